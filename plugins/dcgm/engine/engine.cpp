// SPDX-License-Identifier: Apache-2.0
#include "dcgm/engine/engine.hpp"

#include <algorithm>

#include <unistd.h>

namespace slipway::dcgm {
namespace {

constexpr std::chrono::seconds kShortestWait{1};
constexpr std::chrono::seconds kLongestWait{60};

}  // namespace

EnginePoller::EnginePoller(EngineOptions options, Log log)
    : options_(std::move(options)), log_(std::move(log)), child_(options_.root, options_.programs, log_) {
  const nvidia::nvml::SignalsBlocked blocked;
  thread_ = std::jthread([this](const std::stop_token& stop) { work(stop); });
}

EnginePoller::~EnginePoller() {
  thread_.request_stop();
  thread_.join();
}

void EnginePoller::want(std::vector<unsigned> fields) {
  const std::scoped_lock lock(mutex_);
  if (wanted_.fields == fields) return;
  wanted_.fields = std::move(fields);
  changed_.notify_all();
}

EngineReading EnginePoller::latest() const {
  const std::scoped_lock lock(mutex_);
  return Clock::now() - read_ > 3 * options_.interval + std::chrono::seconds(10) ? EngineReading() : reading_;
}

std::string EnginePoller::problem() const {
  const std::scoped_lock lock(mutex_);
  return problem_;
}

std::optional<bool> EnginePoller::answers() const {
  const std::scoped_lock lock(mutex_);
  return answers_;
}

void EnginePoller::quiesce() {
  std::unique_lock lock(mutex_);
  wanted_.quiesced = true;
  changed_.notify_all();
  changed_.wait(lock, [this] { return is_quiesced_; });
}

void EnginePoller::wake() {
  const std::scoped_lock lock(mutex_);
  wanted_.quiesced = false;
  changed_.notify_all();
}

EnginePoller::Wanted EnginePoller::wait(const std::stop_token& stop, std::chrono::milliseconds limit,
                                        const Wanted& before) {
  std::unique_lock lock(mutex_);
  changed_.wait_for(lock, stop, limit, [&] { return wanted_ != before; });
  return wanted_;
}

void EnginePoller::work(const std::stop_token& stop) {
  std::chrono::milliseconds again = kShortestWait;
  Wanted wanted = wait(stop, {}, {});
  while (!stop.stop_requested()) {
    const bool idle = wanted.quiesced || wanted.fields.empty();
    if (idle) release();
    const Status status = idle ? Status() : ask(wanted);
    if (!status) fail(status.error());
    const auto pause = status ? options_.interval : again;
    again = status ? std::chrono::milliseconds(kShortestWait)
                   : std::min<std::chrono::milliseconds>(2 * again, kLongestWait);
    // A restarted child answers soon, and HostEngine limits the restarts itself.
    wanted = wait(stop, !status && options_.managed ? std::chrono::milliseconds(kShortestWait) : pause, wanted);
  }
  release();
}

Status EnginePoller::ask(const Wanted& wanted) {
  if (options_.managed) {
    SLIPWAY_CHECK(child_.keep_running(Clock::now()));
    if (::access(child_.address().text.c_str(), F_OK) != 0)
      return Error{.code = ErrorCode::busy, .what = "nv-hostengine is starting"};
  }
  if (!client_.connected() || watched_ != wanted.fields) {
    SLIPWAY_CHECK(client_.connect(options_.programs, options_.managed ? child_.address() : options_.address,
                                  wanted.fields, options_.interval));
    watched_ = wanted.fields;
  }
  SLIPWAY_TRY(reading, client_.read());
  if (const std::string missing = client_.missing(); missing != missing_) {
    if (!missing.empty()) log_("warning", missing);
    missing_ = missing;
  }
  publish(std::move(reading));
  return {};
}

void EnginePoller::publish(EngineReading reading) {
  const std::scoped_lock lock(mutex_);
  if (!problem_.empty()) log_("info", "the DCGM engine answers again");
  is_quiesced_ = false;
  problem_.clear();
  answers_ = true;
  reading_ = std::move(reading);
  read_ = Clock::now();
}

void EnginePoller::fail(const Error& error) {
  const std::scoped_lock lock(mutex_);
  is_quiesced_ = false;
  reading_ = {};
  answers_ = false;
  const std::string problem = error.what + (error.next.empty() ? "" : " (do: " + error.next + ")");
  if (problem_ == problem) return;
  problem_ = problem;
  log_(error.code == ErrorCode::busy ? "info" : "warning", problem);
}

void EnginePoller::release() {
  client_.release();
  child_.stop();
  const std::scoped_lock lock(mutex_);
  reading_ = {};
  problem_.clear();
  answers_.reset();
  is_quiesced_ = true;
  changed_.notify_all();
}

}  // namespace slipway::dcgm
