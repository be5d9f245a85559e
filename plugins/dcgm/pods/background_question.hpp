// SPDX-License-Identifier: Apache-2.0
// plugins/dcgm/pods/background_question.hpp - the answer to a question that a thread of its own asks when it is needed,
// so that a missing answer blocks nothing.
#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <utility>

#include <slipway/result.hpp>

namespace slipway::dcgm {

/// The newest answer, and whether it is still valid.
template <class T>
struct Latest {
  T value{};            ///< the last answer while it is valid; empty afterwards
  std::string problem;  ///< why the last question failed; empty: it was answered
  bool operator==(const Latest&) const = default;
};

template <class T>
class KeptUpToDate {
 public:
  using Question = std::function<Result<T>()>;

  /// Asks at once, and then after each ask().
  /// @param question  called in the thread; it must return without being interrupted
  /// @param every     shortest time between two questions; also the time of the retry after a failure
  /// @param keep      how long an answer stays valid when later questions fail
  KeptUpToDate(Question question, std::chrono::milliseconds every, std::chrono::milliseconds keep)
      : question_(std::move(question)), every_(every), keep_(keep) {
    known_.problem = "it has not answered yet";
    thread_ = std::jthread([this](const std::stop_token& stop) { work(stop); });
  }
  /// Requests a question soon, unless one was asked a moment ago. Returns at once; thread-safe.
  void ask() {
    const std::lock_guard lock(mutex_);
    if (Clock::now() - begun_ < every_ - every_ / 8)
      return;  // some tolerance, since regular callers come early or
               // late by a little
    wanted_ = true;
    wake_.notify_all();
  }
  /// @param news  called from the thread when an answer differs from the previous one
  void on_change(std::function<void()> news) {
    const std::lock_guard lock(mutex_);
    news_ = std::move(news);
  }
  ~KeptUpToDate() {
    thread_.request_stop();
    thread_.join();
  }
  KeptUpToDate(const KeptUpToDate&) = delete;
  KeptUpToDate& operator=(const KeptUpToDate&) = delete;

  /// Thread-safe; returns at once.
  Latest<T> known() const {
    const std::lock_guard lock(mutex_);
    Latest<T> known = known_;
    const bool hangs = asked_ && Clock::now() - *asked_ > keep_;
    if (hangs && known.problem.empty()) known.problem = "it does not answer";
    if (!known.problem.empty() && Clock::now() - answered_ > keep_) known.value = T{};
    return known;
  }

 private:
  using Clock = std::chrono::steady_clock;

  void work(const std::stop_token& stop) {
    std::unique_lock lock(mutex_);
    while (!stop.stop_requested()) {
      wanted_ = false;
      asked_ = begun_ = Clock::now();
      lock.unlock();
      auto answer = question_();
      lock.lock();
      asked_.reset();
      Latest<T> before = known_;
      if (answer) {
        answered_ = Clock::now();
        known_ = {std::move(*answer), ""};
      } else {
        known_.problem = answer.error().what;
      }
      const bool is_news = !(before == known_);
      if (is_news && news_) {
        const auto news = news_;
        lock.unlock();
        news();
        lock.lock();
      }
      const auto is_wanted = [this] { return wanted_; };
      if (known_.problem.empty())
        wake_.wait(lock, stop, is_wanted);
      else
        wake_.wait_for(lock, stop, every_, is_wanted);
    }
  }

  Question question_;
  std::chrono::milliseconds every_;
  std::chrono::milliseconds keep_;
  mutable std::mutex mutex_;
  std::condition_variable_any wake_;
  bool wanted_ = false;
  Clock::time_point begun_;  ///< the last question
  std::function<void()> news_;
  Latest<T> known_;
  std::optional<Clock::time_point> asked_;  ///< start of the question in progress
  Clock::time_point answered_;
  std::jthread thread_;
};

}  // namespace slipway::dcgm
