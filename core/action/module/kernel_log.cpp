// SPDX-License-Identifier: Apache-2.0
#include "core/action/module/kernel_log.hpp"

#include <array>
#include <cerrno>
#include <string_view>

#include <fcntl.h>
#include <unistd.h>

#include "base/kernels/kernel_log.hpp"

namespace slipway::core {
namespace {

constexpr std::size_t kMostMessages = 40;
constexpr int kMostRecords = 4096;  // the limit for a program that keeps writing to the log

Fd open_log(const RootDir& root) {
  auto in_root = root.open_at("/dev/kmsg", O_RDONLY | O_NONBLOCK);
  return in_root ? std::move(*in_root) : Fd(::open("/dev/kmsg", O_RDONLY | O_NONBLOCK | O_CLOEXEC));
}

}  // namespace

KernelLog::KernelLog(const RootDir& root) : log_(open_log(root)) {
  if (log_ && ::lseek(log_.get(), 0, SEEK_END) < 0) log_ = Fd();
}

std::vector<std::string> KernelLog::news() {
  std::vector<std::string> messages;
  std::array<char, 8192> bytes;  // the longest record that the kernel returns
  for (int i = 0; log_ && i < kMostRecords && messages.size() < kMostMessages; ++i) {
    const ssize_t got = ::read(log_.get(), bytes.data(), bytes.size());
    if (got < 0 && (errno == EINTR || errno == EPIPE)) continue;  // EPIPE: some records were overwritten
    if (got <= 0) break;
    const std::string_view record(bytes.data(), static_cast<std::size_t>(got));
    if (const auto message = base::kernel_message(record.substr(0, record.find('\n')))) messages.emplace_back(*message);
  }
  return messages;
}

}  // namespace slipway::core
