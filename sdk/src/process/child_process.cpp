// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <thread>

#include <fcntl.h>
#include <poll.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <slipway/process/child_process.hpp>

namespace slipway {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

constexpr milliseconds kLookEvery{50};            // how often to check whether to stop it
constexpr milliseconds kLookWithoutHandle{5};     // how often to check for its end, before Linux 5.3
constexpr milliseconds kKilledLimit{5'000};       // the kernel may delay the end of a killed process
constexpr milliseconds kLongestPause{3'600'000};  // for one poll(2)

Fd handle_of(pid_t pid) { return Fd(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0))); }

/// @return true when there is no need to wait for it any more
bool reap(pid_t pid, int* status) {
  int ended = 0;
  const pid_t got = ::waitpid(pid, &ended, WNOHANG);
  if (got == pid && status != nullptr) *status = ended;
  return got == pid || (got < 0 && errno == ECHILD);
}

class HeardStream {
 public:
  HeardStream(Fd end, std::size_t most, const std::function<void(std::string_view)>& on_part)
      : end_(std::move(end)), most_(most), on_part_(on_part) {
    if (end_) ::fcntl(end_.get(), F_SETFL, O_NONBLOCK);
  }
  pollfd wanted() const { return {end_.get(), POLLIN, 0}; }
  bool open() const { return static_cast<bool>(end_); }
  bool flooded() const { return truncated_ || kept_.size() > most_; }

  /// @return false when nothing more is available now
  bool take() {
    if (!end_) return false;
    std::array<char, 65536> part;
    const ssize_t got = ::read(end_.get(), part.data(), part.size());
    if (got < 0 && errno == EINTR) return true;
    if (got < 0 && errno == EAGAIN) return false;
    if (got <= 0) end_ = Fd();
    if (got <= 0) return false;
    const std::string_view text(part.data(), static_cast<std::size_t>(got));
    if (on_part_) on_part_(text);
    if (!on_part_) kept_ += text;
    shorten(2 * most_);  // only from time to time, not after each part
    return true;
  }

  /// Reads the available bytes, or a part of an endless stream.
  std::string rest(bool& truncated) {
    constexpr int kParts = 32;  // more than a pipe holds
    for (int parts = 0; parts < kParts && take(); ++parts) continue;
    shorten(most_);
    truncated = truncated || truncated_;
    return std::move(kept_);
  }

 private:
  void shorten(std::size_t above) {
    if (kept_.size() <= above) return;
    kept_.erase(0, kept_.size() - most_);
    truncated_ = true;
  }
  Fd end_;
  std::size_t most_;
  const std::function<void(std::string_view)>& on_part_;
  std::string kept_;
  bool truncated_ = false;
};

class ChildReader {
 public:
  ChildReader(Child child, const ChildLimits& how)
      : how_(how),
        pid_(child.pid),
        leads_group_(child.leads_group),
        handle_(handle_of(child.pid)),
        output_(std::move(child.output), how.most_bytes, how.on_output),
        errors_(std::move(child.errors), how.most_bytes, how.on_errors),
        limit_(std::min<milliseconds>(how.limit, kForever)),
        end_(Clock::now() + limit_) {}

  ChildResult read_to_end() {
    while (!over() && keep_limits()) look();
    if (result_.end != ChildResult::End::by_itself && leads_group_) ::kill(-pid_, SIGKILL);  // also its descendants
    result_.output = output_.rest(result_.truncated);
    result_.errors = errors_.rest(result_.truncated);
    if (result_.end == ChildResult::End::by_itself && how_.ends_flood && result_.truncated)
      result_.end = ChildResult::End::flooded;
    return std::move(result_);
  }

 private:
  bool over() {
    reaped_ = reaped_ || reap(pid_, &result_.status);
    return reaped_ && !(how_.to_last_writer && (output_.open() || errors_.open()));
  }

  /// @return false when it was killed, and the kernel delays its end
  bool keep_limits() {
    const bool late = Clock::now() >= end_;
    if (result_.end == ChildResult::End::by_itself) {
      result_.end = why_not(late);
      if (result_.end == ChildResult::End::by_itself) return true;
      if (late && how_.grace.count() > 0) {
        signal(SIGTERM);
        end_ = Clock::now() + how_.grace;
        return true;
      }
    } else if (!late) {
      return true;
    } else if (killed_) {
      return false;
    }
    signal(SIGKILL);
    killed_ = true;
    end_ = Clock::now() + (how_.to_last_writer ? std::max(limit_, kKilledLimit) : kKilledLimit);
    return true;
  }

  ChildResult::End why_not(bool late) const {
    if (late) return ChildResult::End::timed_out;
    if (how_.ends_flood && (output_.flooded() || errors_.flooded())) return ChildResult::End::flooded;
    return how_.stop && how_.stop() ? ChildResult::End::stopped : ChildResult::End::by_itself;
  }

  void signal(int number) const {
    if (leads_group_ || !reaped_) ::kill(leads_group_ ? -pid_ : pid_, number);
  }

  void look() {
    std::array<pollfd, 3> wanted{output_.wanted(), errors_.wanted(), {reaped_ ? -1 : handle_.get(), POLLIN, 0}};
    milliseconds pause = std::min(time_left(end_), how_.stop ? kLookEvery : kLongestPause);
    if (!handle_) pause = std::min(pause, kLookWithoutHandle);
    (void)::poll(wanted.data(), wanted.size(), static_cast<int>(pause.count()));
    output_.take();
    errors_.take();
    reaped_ = reaped_ || reap(pid_, &result_.status);
    if (!reaped_ && wanted[2].revents != 0) std::this_thread::sleep_for(kLookWithoutHandle);  // it is being traced
  }

  const ChildLimits& how_;
  pid_t pid_;
  bool leads_group_;
  Fd handle_;  ///< becomes readable when the process has ended (pidfd)
  HeardStream output_;
  HeardStream errors_;
  milliseconds limit_;
  Clock::time_point end_;
  ChildResult result_;
  bool reaped_ = false;
  bool killed_ = false;
};

/// Returns the reading end of a pipe that already contains the text: a child that does not read it causes no signal.
Result<Fd> filled_pipe(const std::string& text) {
  SLIPWAY_TRY(pipe, make_pipe());
  ::fcntl(pipe.write.get(), F_SETFL, O_NONBLOCK);
  const ssize_t written = ::write(pipe.write.get(), text.data(), text.size());
  if (written != static_cast<ssize_t>(text.size()))
    return system_error("write", "the input of a program", written < 0 ? errno : EMSGSIZE);
  return std::move(pipe.read);
}

}  // namespace

milliseconds time_left(Clock::time_point end) {
  return std::max(milliseconds(0), std::chrono::ceil<milliseconds>(end - Clock::now()));
}

bool child_ended(pid_t pid, milliseconds limit, int* status) {
  const auto end = Clock::now() + limit;
  for (Fd handle; !reap(pid, status);) {
    milliseconds pause = std::min(time_left(end), kLongestPause);
    if (pause.count() == 0) return false;
    if (!handle) handle = handle_of(pid);
    if (!handle) pause = std::min(pause, kLookWithoutHandle);
    pollfd ended{handle.get(), POLLIN, 0};
    (void)::poll(&ended, 1, static_cast<int>(pause.count()));
    if (ended.revents == 0) continue;
    if (reap(pid, status)) return true;
    std::this_thread::sleep_for(kLookWithoutHandle);  // it has ended, and its tracer has not released it
  }
  return true;
}

int exit_status_of(int status) { return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status); }

std::string ending_of(int status) {
  return WIFSIGNALED(status) ? "signal " + std::to_string(WTERMSIG(status))
                             : "exit status " + std::to_string(WEXITSTATUS(status));
}

ChildResult await_child(Child child, const ChildLimits& how) {
  return ChildReader(std::move(child), how).read_to_end();
}

Result<ChildResult> run_child(ChildProgram program, const ChildLimits& how, const std::string& input) {
  Fd given;
  if (!input.empty()) {
    SLIPWAY_TRY(filled, filled_pipe(input));
    given = std::move(filled);
    program.descriptors.at(0) = given.get();
  }
  std::array<Pipe, 2> pipes;
  for (std::size_t i = 0; i < pipes.size(); ++i) {
    if (program.descriptors.at(i + 1) != kReadPipe) continue;
    SLIPWAY_TRY(pipe, make_pipe());
    pipes.at(i) = std::move(pipe);
    program.descriptors.at(i + 1) = pipes.at(i).write.get();
  }
  SLIPWAY_TRY(pid, start_program(program));
  for (Pipe& pipe : pipes) pipe.write = Fd();
  return await_child({pid, std::move(pipes[0].read), std::move(pipes[1].read), program.own_session}, how);
}

}  // namespace slipway
