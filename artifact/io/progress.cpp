// SPDX-License-Identifier: Apache-2.0
#include "artifact/io/progress.hpp"

#include <utility>

namespace slipway::artifact {
namespace {

constexpr std::chrono::milliseconds kInterval{100};

}  // namespace

Progress::Progress(const Reporter& reporter, std::string label, std::uint64_t total)
    : reporter_(reporter),
      label_(std::move(label)),
      total_(total),
      next_(std::chrono::steady_clock::now() + kInterval) {}

Progress::~Progress() {
  if (reporter_.progress && done_ > 0) reporter_.progress(label_, done_, finished_ ? done_.load() : total_);
}

void Progress::add(std::uint64_t bytes) {
  done_ += bytes;
  if (!reporter_.progress || (total_ != 0 && done_ >= total_)) return;  // the destructor reports the end, once
  const std::unique_lock lock(mutex_, std::try_to_lock);
  if (!lock) return;  // another thread is reporting
  const auto now = std::chrono::steady_clock::now();
  if (now < next_) return;
  next_ = now + kInterval;
  reporter_.progress(label_, done_, total_);
}

}  // namespace slipway::artifact
