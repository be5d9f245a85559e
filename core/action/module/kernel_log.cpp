// SPDX-License-Identifier: Apache-2.0
#include "core/action/module/kernel_log.hpp"

#include <array>
#include <cerrno>

#include <fcntl.h>
#include <unistd.h>

namespace slipway::core {
namespace {

constexpr std::size_t kMostMessages = 40;

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
  std::array<char, 8192> record;  // the longest that the kernel gives
  while (log_ && messages.size() < kMostMessages) {
    const ssize_t got = ::read(log_.get(), record.data(), record.size());
    if (got < 0 && (errno == EINTR || errno == EPIPE)) continue;  // EPIPE: some were overwritten, the next is there
    if (got <= 0) break;
    messages.push_back(kernel_message(std::string(record.data(), static_cast<std::size_t>(got))));
  }
  return messages;
}

std::string kernel_message(const std::string& record) {
  const std::size_t begin = record.find(';');
  if (begin == std::string::npos) return {};
  return record.substr(begin + 1, record.find('\n', begin) - begin - 1);
}

}  // namespace slipway::core
