// SPDX-License-Identifier: Apache-2.0
#include "sandbox/sandbox.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>

#include <unistd.h>

#include <slipway/process/child_process.hpp>

#include "sandbox/sandbox_child.hpp"

namespace slipway::sandbox {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds kLookEvery{100};  ///< for checking the usage

std::string mib(std::uint64_t bytes) { return std::to_string(bytes >> 20U) + " MiB"; }

const std::string& name_of(const Sandbox& request) {
  return request.name.empty() ? request.argv.front() : request.name;
}

/// Returns the remedy for the right that the user lacks for namespaces and mounts.
std::string remedy_for_refusal() {
  const std::string container =
      "in a container, run slipway with CAP_SYS_ADMIN and without a seccomp or AppArmor profile that forbids mounts "
      "(for "
      "example `podman run --privileged`)";
  return ::geteuid() == 0 ? container : "run slipway as root; " + container;
}

Error cannot_run(int number, const Sandbox& request) {
  Error error{ErrorCode::denied, "cannot run " + name_of(request) + " in " + request.root + ": ", request.root, {}, {}};
  error.what += std::strerror(number);
  error.next = "check the modes of the program and of its interpreter, and whether their file system is mounted noexec";
  if (number == ENOENT) {
    error.code = ErrorCode::not_found;
    error.next = "install " + name_of(request) + " in that root, with the interpreter or linker that it names";
  }
  if (number == ENOEXEC) {
    error.code = ErrorCode::unsupported;
    error.what =
        "cannot run " + name_of(request) + " in " + request.root + ": it is not a program for this machine's processor";
    error.next =
        "run the same command on a machine with the root's processor, or let the kernel run its programs by qemu-user";
  }
  return error;
}

Error explain(const std::string& line, const Sandbox& request) {
  const auto kind = line.front();
  const int number = std::atoi(line.c_str() + 1);
  const std::string text = line.substr(std::min(line.find(' ') + 1, line.size()));
  const std::string why = std::strerror(number);
  if (kind == SandboxReport::program) return cannot_run(number, request);
  if (kind == SandboxReport::refused)
    return Error{ErrorCode::unsupported,
                 name_of(request) + " cannot be run for " + request.root +
                     " in a private environment here: the kernel refuses to " + text + " (" + why + ")",
                 request.root,
                 remedy_for_refusal(),
                 {}};
  return Error{ErrorCode::io,
               "cannot " + text + " for " + name_of(request) + " of " + request.root + ": " + why,
               request.root,
               "check this machine's memory, mounts and limits of processes, then run the same command again",
               {}};
}

/// The forked child, as the parent sees it.
class Running {
 public:
  Running(const Sandbox& request, base::LimitedProcesses& group, pid_t pid, Fd output, Fd report)
      : request_(request), group_(group), pid_(pid), output_(std::move(output)), report_(std::move(report)) {
    group_.watch(pid);
  }

  Result<SandboxEnd> wait() {
    const ChildResult result = await_child({pid_, std::move(output_), std::move(report_)},
                                           {.limit = request_.limit,
                                            .to_last_writer = true,
                                            .stop = [this] { return has_to_stop(); },
                                            .on_output = [this](std::string_view text) { take(text); }});
    if (result.end == ChildResult::End::timed_out) stop_ = ErrorCode::timed_out;
    problem_ = result.errors;
    return conclude(exit_status_of(result.status));
  }

 private:
  /// Ending the child ends process 1 of the namespace, and with that process all others in it.
  bool has_to_stop() {
    if (request_.cancel != nullptr && request_.cancel->load())
      stop_ = ErrorCode::cancelled;
    else if (printed_ > request_.output_bytes || exceeds_limits())
      stop_ = ErrorCode::io;
    return stop_ != ErrorCode::internal;
  }

  bool exceeds_limits() {
    if (!group_.needs_looks() || Clock::now() < next_look_) return false;
    next_look_ = Clock::now() + kLookEvery;
    exceeded_ = group_.excess();
    return exceeded_ != base::ExceededLimit::none;
  }

  void take(std::string_view text) {
    printed_ += text.size();
    if (request_.on_output && printed_ <= request_.output_bytes) request_.on_output(text);
  }

  Error beyond_limit() const {
    const std::string& name = name_of(request_);
    Error error{ErrorCode::io, {}, request_.root, {}, {}};
    if (exceeded_ == base::ExceededLimit::memory) {
      error.what =
          name + " ran out of memory: programs of a root may use " + mib(request_.limits.memory_bytes) + " here";
      error.next = "give this machine more memory, or run the same command on one that has more";
    } else if (exceeded_ == base::ExceededLimit::processes) {
      error.what = name + " started more than the " + std::to_string(request_.limits.processes) +
                   " processes that programs of a root may have here";
      error.next = "check which programs it starts: no tool of a distribution needs as many";
    } else {
      error.what = name + " printed more than " + mib(request_.output_bytes) + " and was stopped";
      error.next = "check its output";
    }
    return error;
  }

  /// Reads the lines before the report itself, which did not prevent the program from running.
  void take_notes(SandboxEnd& end) {
    while (problem_.starts_with(SandboxReport::without_users) || problem_.starts_with(SandboxReport::without_network)) {
      const std::size_t line = std::min(problem_.find('\n'), problem_.size());
      std::string& why =
          problem_.front() == SandboxReport::without_users ? end.no_user_namespace : end.no_network_namespace;
      why = problem_.substr(1, line - 1);
      problem_.erase(0, line + 1);
    }
  }

  Error stopped() const {
    const std::string& name = name_of(request_);
    if (stop_ == ErrorCode::cancelled)
      return Error{stop_, name + " was stopped before it was done", request_.root, "run the same command again", {}};
    return Error{
        stop_,
        name + " was not done after " + std::to_string(request_.limit.count()) + " s and was stopped",
        request_.root,
        "check what keeps it busy (" + request_.root + ", this machine's disks), then run the same command again",
        {}};
  }

  Result<SandboxEnd> conclude(int status) {
    SandboxEnd end{.exit_status = status};
    take_notes(end);
    if (stop_ == ErrorCode::cancelled || stop_ == ErrorCode::timed_out) return stopped();
    if (stop_ == ErrorCode::io) return beyond_limit();
    if (problem_.starts_with(SandboxReport::need)) {
      end.missing = problem_.substr(std::min(problem_.find(' ') + 1, problem_.size()));
      return end;
    }
    if (!problem_.empty()) return explain(problem_, request_);
    if (status != 0) exceeded_ = group_.excess();  // a program that succeeded within the limits has not failed
    if (exceeded_ != base::ExceededLimit::none) return beyond_limit();
    return end;
  }

  const Sandbox& request_;
  base::LimitedProcesses& group_;
  pid_t pid_;
  Fd output_;
  Fd report_;
  std::string problem_;
  std::uint64_t printed_ = 0;
  Clock::time_point next_look_;
  base::ExceededLimit exceeded_ = base::ExceededLimit::none;
  ErrorCode stop_ = ErrorCode::internal;
};

}  // namespace

base::ProcessLimits sandbox_limits() {
  const auto of_system = [](int name) { return static_cast<std::uint64_t>(std::max(1L, ::sysconf(name))); };
  const std::uint64_t memory = of_system(_SC_PHYS_PAGES) * of_system(_SC_PAGESIZE);
  const std::uint64_t processors = of_system(_SC_NPROCESSORS_ONLN);
  return {.memory_bytes = std::min(memory / 4 * 3, (4 + processors) << 30U), .processes = 512 + 16 * processors};
}

std::vector<std::string> sandbox_environment() {
  return {"PATH=/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL=C", "TZ=UTC", "HOME=/tmp", "TMPDIR=/tmp"};
}

Result<SandboxEnd> run_in_sandbox(const Sandbox& request) {
  SLIPWAY_TRY(output, make_pipe());
  SLIPWAY_TRY(report, make_pipe());
  base::LimitedProcesses group("sandbox", request.prepare_only ? base::ProcessLimits{} : request.limits);
  const int parent = ::getpid();
  const pid_t pid = ::fork();
  if (pid < 0) return system_error("start", request.argv.front(), errno);
  if (pid == 0) enter_sandbox(request, group, output.write.get(), report.write.get(), parent);
  output.write = Fd();
  report.write = Fd();
  return Running(request, group, pid, std::move(output.read), std::move(report.read)).wait();
}

}  // namespace slipway::sandbox
