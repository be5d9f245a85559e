// SPDX-License-Identifier: Apache-2.0
#include "base/write/standard_output.hpp"

#include <array>
#include <cerrno>
#include <csignal>
#include <ctime>
#include <mutex>

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

namespace slipway::base {
namespace {

constexpr mode_t kUmask = 022;
std::mutex output_mutex;
int first_failure = 0;  // errno

/// Blocks SIGPIPE for this thread, whatever the program does about it, as long as this exists.
class WithoutSigpipe {
 public:
  WithoutSigpipe() {
    sigemptyset(&sigpipe_);
    sigaddset(&sigpipe_, SIGPIPE);
    sigset_t pending;
    sigpending(&pending);
    was_pending_ = sigismember(&pending, SIGPIPE) == 1;
    pthread_sigmask(SIG_BLOCK, &sigpipe_, &before_);
  }
  ~WithoutSigpipe() {
    const timespec at_once{};
    while (!was_pending_ && sigtimedwait(&sigpipe_, nullptr, &at_once) < 0 && errno == EINTR) continue;
    pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }
  WithoutSigpipe(const WithoutSigpipe&) = delete;
  WithoutSigpipe& operator=(const WithoutSigpipe&) = delete;

 private:
  sigset_t sigpipe_{};
  sigset_t before_{};
  bool was_pending_ = false;
};

/// @return 0 or an errno
int write_out(std::string_view text) {
  while (!text.empty()) {
    const ssize_t put = ::write(STDOUT_FILENO, text.data(), text.size());
    if (put >= 0) {
      text.remove_prefix(static_cast<std::size_t>(put));
    } else if (errno == EAGAIN) {  // another process made it non-blocking
      pollfd room{STDOUT_FILENO, POLLOUT, 0};
      ::poll(&room, 1, -1);
    } else if (errno != EINTR) {
      return errno;
    }
  }
  return 0;
}

}  // namespace

void begin_program() {
  ::umask(kUmask);
  // Standard output opened for reading only: writing to it fails, as it does when it is closed.
  constexpr std::array kModes{O_RDONLY, O_RDONLY, O_WRONLY};
  for (int number = 0; number <= STDERR_FILENO; ++number)
    if (::fcntl(number, F_GETFD) < 0 && errno == EBADF)
      (void)::open("/dev/null", kModes.at(static_cast<std::size_t>(number)));  // takes the lowest free number
}

void write_standard_output(std::string_view text) {
  const std::scoped_lock lock(output_mutex);
  if (first_failure != 0) return;
  const WithoutSigpipe guard;
  first_failure = write_out(text);
}

Status standard_output_status() {
  const std::scoped_lock lock(output_mutex);
  if (first_failure == 0) return {};
  Error error = system_error("write", "standard output", first_failure);
  error.next = "write to a file or pipe that takes the whole output; the command itself has done its work";
  return error;
}

}  // namespace slipway::base
