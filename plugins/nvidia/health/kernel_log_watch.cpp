// SPDX-License-Identifier: Apache-2.0
#include "nvidia/health/kernel_log_watch.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/kernels/kernel_log.hpp"

namespace slipway::nvidia::health {
namespace {

constexpr const char* kLog = "/dev/kmsg";
constexpr int kMostRecords = 256;
constexpr std::size_t kLongestRecord = 8192;  // limit of the kernel: CONSOLE_EXT_LOG_MAX
constexpr std::size_t kMostReported = 1024;
constexpr std::chrono::seconds kSameXid{60};

}  // namespace

std::vector<Xid> KernelLogWatch::read() {
  std::vector<Xid> xids;
  if (!has_log_) return xids;
  if (log_.get() < 0) {
    auto opened = root_.open_at(kLog, O_RDONLY | O_NONBLOCK | O_NOCTTY);
    problem_ = opened ? "" : opened.error().what;
    if (!opened) return xids;
    log_ = std::move(*opened);
    struct stat info {};
    can_be_waited_for_ = ::fstat(log_.get(), &info) == 0 && S_ISCHR(info.st_mode);
    if (::lseek(log_.get(), 0, SEEK_END) >= 0) return xids;
    problem_ = std::string(kLog) + ": " + std::strerror(errno);
    log_ = Fd();
    return xids;
  }
  std::array<char, kLongestRecord> record{};
  for (int i = 0; i < kMostRecords; ++i) {
    const ssize_t got = ::read(log_.get(), record.data(), record.size());
    if (got < 0 && (errno == EPIPE || errno == EINTR)) continue;  // EPIPE: the oldest records were overwritten
    if (got <= 0) {
      if (got < 0 && errno != EAGAIN) {
        problem_ = std::string(kLog) + ": " + std::strerror(errno);
        log_ = Fd();
      }
      break;
    }
    take({record.data(), static_cast<std::size_t>(got)}, xids);
  }
  return xids;
}

/// Handles one record of the kernel, or several of a plain file.
void KernelLogWatch::take(std::string_view record, std::vector<Xid>& xids) {
  while (!record.empty()) {
    const std::size_t end = record.find('\n');
    const std::string_view line = record.substr(0, end);
    record.remove_prefix(end == std::string_view::npos ? record.size() : end + 1);
    const auto message = base::kernel_message(line);
    if (!message) continue;
    const std::string_view text = *message;
    if (auto fallen = parse_fallen_gpu(text)) {
      xids.push_back(std::move(*fallen));
    } else if (!text.starts_with("NVRM: Xid (PCI:")) {
      driver_lines_ = driver_lines_ || text.starts_with("NVRM:") || text.starts_with("nvidia");
    } else if (auto xid = parse_xid(text)) {
      xids.push_back(std::move(*xid));
    }
  }
}

bool XidMerger::is_new(From from, const std::string& gpu, unsigned number, Moment now) {
  while (!reported_.empty() && (now - reported_.front().time > kSameXid || reported_.size() > kMostReported))
    reported_.pop_front();
  const auto same = std::ranges::find_if(reported_, [&](const ReportedXid& each) {
    return each.from != from && each.gpu == gpu && each.number == number;
  });
  if (same != reported_.end()) {
    reported_.erase(same);
    return false;
  }
  reported_.push_back({from, gpu, number, now});
  return true;
}

}  // namespace slipway::nvidia::health
