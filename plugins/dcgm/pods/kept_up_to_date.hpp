// SPDX-License-Identifier: Apache-2.0
// plugins/dcgm/pods/kept_up_to_date.hpp - what a question answers, asked when it is wanted in a thread of its own, so
// that an answer that does not come holds up nothing.
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

/// The newest answer, and whether it still counts.
template <class T>
struct Latest {
  T value{};            ///< the last answer, for as long as it counts; empty afterwards
  std::string problem;  ///< why the last question had no answer; empty: it had
  bool operator==(const Latest&) const = default;
};

template <class T>
class KeptUpToDate {
 public:
  using Question = std::function<Result<T>()>;

  /// Asks at once, and then when ask() wants it.
  /// @param question  called in the thread; it must come back by itself
  /// @param every     between two questions at least; after a failure it is asked again by itself
  /// @param keep      how long an answer counts when those behind it fail
  KeptUpToDate(Question question, std::chrono::milliseconds every, std::chrono::milliseconds keep)
      : question_(std::move(question)), every_(every), keep_(keep) {
    known_.problem = "it has not answered yet";
    thread_ = std::jthread([this](const std::stop_token& stop) { work(stop); });
  }
  /// A question soon, unless one was asked a moment ago. At once, from any thread.
  void ask() {
    const std::lock_guard lock(mutex_);
    if (Clock::now() - begun_ < every_ - every_ / 8) return;  // whoever asks regularly is not always late alike
    wanted_ = true;
    wake_.notify_all();
  }
  /// @param news  called from the thread when an answer differs from the one before
  void on_news(std::function<void()> news) {
    const std::lock_guard lock(mutex_);
    news_ = std::move(news);
  }
  ~KeptUpToDate() {
    thread_.request_stop();
    thread_.join();
  }
  KeptUpToDate(const KeptUpToDate&) = delete;
  KeptUpToDate& operator=(const KeptUpToDate&) = delete;

  /// From any thread, and at once.
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
  std::optional<Clock::time_point> asked_;  ///< a question is under way since then
  Clock::time_point answered_;
  std::jthread thread_;
};

}  // namespace slipway::dcgm
