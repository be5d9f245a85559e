// SPDX-License-Identifier: Apache-2.0
#include "sandbox/sandbox.hpp"

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>

#include <fcntl.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <slipway/root_dir.hpp>

#include "sandbox/inside.hpp"

namespace slipway::core {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int kLookMs = 100;  ///< how often cancel and the limit are looked at

struct Pipe {
  Fd read;
  Fd write;
};

Result<Pipe> make_pipe() {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) return system_error("make", "a pipe", errno);
  return Pipe{Fd(ends[0]), Fd(ends[1])};
}

Error explain(const std::string& line, const Sandbox& request) {
  const auto kind = line.front();
  const int number = std::atoi(line.c_str() + 1);
  const std::string text = line.substr(std::min(line.find(' ') + 1, line.size()));
  const std::string why = std::strerror(number);
  if (kind == SandboxReport::program && number == ENOEXEC)
    return Error{ErrorCode::unsupported,
                 "cannot run " + text + " in " + request.root + ": it is no program for this machine's processor",
                 request.root,
                 "do this on a machine with the root's processor, or let the kernel run its programs by qemu-user",
                 {}};
  if (kind == SandboxReport::program)
    return Error{number == ENOENT ? ErrorCode::not_found : ErrorCode::denied,
                 "cannot run " + text + " in " + request.root + ": " + why,
                 request.root,
                 {},
                 {}};
  if (kind == SandboxReport::refused)
    return Error{ErrorCode::unsupported,
                 "programs of " + request.root + " cannot be run in a private environment here: to " + text +
                     " is refused (" + why + ")",
                 request.root,
                 "run slipway as root, and in a container with CAP_SYS_ADMIN and without a seccomp or AppArmor profile "
                 "that forbids mounts (for example `podman run --privileged`)",
                 {}};
  return Error{
      ErrorCode::io, "cannot " + text + " for a program of " + request.root + ": " + why, request.root, {}, {}};
}

/// The forked child, seen from outside.
class Running {
 public:
  Running(const Sandbox& request, pid_t pid, Fd output, Fd report)
      : request_(request), pid_(pid), output_(std::move(output)), report_(std::move(report)) {}

  Result<SandboxEnd> wait() {
    const auto end = Clock::now() + request_.limit;
    while (output_ || report_) {
      if (stop_ == ErrorCode::internal && request_.cancel != nullptr && request_.cancel->load())
        kill(ErrorCode::cancelled);
      if (stop_ == ErrorCode::internal && Clock::now() >= end) kill(ErrorCode::timed_out);
      read_once();
    }
    int status = 0;
    while (::waitpid(pid_, &status, 0) < 0 && errno == EINTR) continue;
    return conclude(WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status));
  }

 private:
  /// Its end takes process 1 of the namespace along, and that takes all the others.
  void kill(ErrorCode why) {
    stop_ = why;
    ::kill(pid_, SIGKILL);
  }

  void read_once() {
    std::array<pollfd, 2> ready{pollfd{output_.get(), POLLIN, 0}, pollfd{report_.get(), POLLIN, 0}};
    if (::poll(ready.data(), ready.size(), kLookMs) <= 0) return;
    if (ready[0].revents != 0)
      read_from(output_, [&](std::string_view text) {
        if (request_.on_output) request_.on_output(text);
      });
    if (ready[1].revents != 0) read_from(report_, [&](std::string_view text) { problem_ += text; });
  }

  template <class Take>
  void read_from(Fd& fd, Take take) {
    std::array<char, 65536> buffer;
    const ssize_t got = ::read(fd.get(), buffer.data(), buffer.size());
    if (got > 0) take(std::string_view(buffer.data(), static_cast<std::size_t>(got)));
    if (got == 0 || (got < 0 && errno != EINTR)) fd = Fd();
  }

  Result<SandboxEnd> conclude(int status) const {
    const std::string name = request_.argv.front();
    if (stop_ == ErrorCode::cancelled) return Error{stop_, name + " was stopped before it was done", {}, {}, {}};
    if (stop_ == ErrorCode::timed_out)
      return Error{stop_,
                   name + " was not done after " + std::to_string(request_.limit.count()) + " s and was stopped",
                   {},
                   {},
                   {}};
    if (problem_.starts_with(SandboxReport::need))
      return SandboxEnd{status, problem_.substr(std::min(problem_.find(' ') + 1, problem_.size()))};
    if (!problem_.empty()) return explain(problem_, request_);
    return SandboxEnd{status, {}};
  }

  const Sandbox& request_;
  pid_t pid_;
  Fd output_;
  Fd report_;
  std::string problem_;
  ErrorCode stop_ = ErrorCode::internal;
};

}  // namespace

std::vector<std::string> sandbox_environment() {
  return {"PATH=/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL=C", "TZ=UTC", "HOME=/tmp", "TMPDIR=/tmp"};
}

Result<SandboxEnd> run_in_sandbox(const Sandbox& request) {
  SLIPWAY_TRY(output, make_pipe());
  SLIPWAY_TRY(report, make_pipe());
  const int parent = ::getpid();
  const pid_t pid = ::fork();
  if (pid < 0) return system_error("start", request.argv.front(), errno);
  if (pid == 0) enter_sandbox(request, output.write.get(), report.write.get(), parent);
  output.write = Fd();
  report.write = Fd();
  return Running(request, pid, std::move(output.read), std::move(report.read)).wait();
}

}  // namespace slipway::core
