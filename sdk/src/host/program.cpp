// SPDX-License-Identifier: Apache-2.0
#include "program.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

namespace slipway::detail {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

constexpr std::size_t kKeptBytes = 1 << 20;
constexpr milliseconds kGrace{5000};    // between SIGTERM and SIGKILL
constexpr milliseconds kLookEvery{20};  // for the end of the program where there is no pidfd
constexpr std::array kFolders{"/usr/local/sbin", "/usr/local/bin", "/usr/sbin", "/usr/bin", "/sbin", "/bin"};

/// One stream of a program, of which the newest part is kept.
class Stream {
 public:
  explicit Stream(Fd end) : end_(std::move(end)) {}

  int fd() const { return end_ ? end_.get() : -1; }
  bool truncated() const { return truncated_; }
  std::string take() { return std::move(kept_); }

  /// Takes what is there, or of an endless flood a part; closes the stream at its end.
  void drain() {
    std::array<char, 65536> part;
    constexpr int kParts = 32;  // more than a pipe holds
    for (int i = 0; i < kParts && end_; ++i) {
      const ssize_t got = ::read(end_.get(), part.data(), part.size());
      if (got < 0 && errno == EINTR) continue;
      if (got < 0) return;
      if (got == 0) end_ = Fd();
      kept_.append(part.data(), static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
      shorten(2 * kKeptBytes);  // now and then, not with each part
    }
  }
  void finish() { shorten(kKeptBytes); }

 private:
  void shorten(std::size_t above) {
    if (kept_.size() <= above) return;
    kept_.erase(0, kept_.size() - kKeptBytes);
    truncated_ = true;
  }
  Fd end_;
  std::string kept_;
  bool truncated_ = false;
};

/// A started program until its end.
class Running {
 public:
  explicit Running(Child child)
      : pid_(child.pid),
        handle_(std::move(child.handle)),
        output_(std::move(child.output)),
        errors_(std::move(child.errors)) {}

  /// @return false when `end` came first
  bool wait_until(Clock::time_point end) {
    while (!reap()) {
      const Clock::time_point now = Clock::now();
      if (now >= end) return false;
      look(end - now);
    }
    return true;
  }
  void signal(int number) const { (void)kill(-pid_, number); }
  void drain() {
    output_.drain();
    errors_.drain();
  }
  ProcessOutput result() {
    drain();
    output_.finish();
    errors_.finish();
    const bool truncated = output_.truncated() || errors_.truncated();
    const int exit_status = WIFSIGNALED(status_) ? 128 + WTERMSIG(status_) : WEXITSTATUS(status_);
    return ProcessOutput{exit_status, output_.take(), errors_.take(), truncated};
  }

 private:
  bool reap() {
    const pid_t ended = waitpid(pid_, &status_, WNOHANG);
    return ended == pid_ || (ended < 0 && errno == ECHILD);
  }
  void look(Clock::duration at_most) {
    std::array<pollfd, 3> wanted{pollfd{output_.fd(), POLLIN, 0}, pollfd{errors_.fd(), POLLIN, 0},
                                 pollfd{handle_ ? handle_.get() : -1, POLLIN, 0}};
    auto pause = std::chrono::ceil<milliseconds>(std::min<Clock::duration>(at_most, std::chrono::hours(1)));
    if (!handle_) pause = std::min(pause, kLookEvery);
    (void)poll(wanted.data(), wanted.size(), static_cast<int>(pause.count()));
    drain();
  }

  pid_t pid_;
  Fd handle_;
  Stream output_;
  Stream errors_;
  int status_ = 0;
};

Error ran_too_long(const std::string& name, milliseconds limit, ProcessOutput seen) {
  Error error{.code = ErrorCode::timed_out,
              .what = name + " did not end within " + std::to_string(limit.count()) + " ms and was stopped"};
  if (!seen.output.empty()) error.details.emplace_back("output", std::move(seen.output));
  if (!seen.errors.empty()) error.details.emplace_back("errors", std::move(seen.errors));
  return error;
}

}  // namespace

Result<std::string> find_program(const RootDir& root, const std::string& name) {
  if (name.empty()) return Error{.code = ErrorCode::invalid, .what = "no program was named"};
  std::vector<std::string> candidates;
  if (name.find('/') != std::string::npos)
    candidates.push_back(name.starts_with('/') ? name : "/" + name);
  else
    for (const char* folder : kFolders) candidates.push_back(std::string(folder) + "/" + name);
  Error error{.code = ErrorCode::not_found,
              .what = "there is no program '" + name + "' in the root",
              .where = root.folder(),
              .next = "install the package that brings it"};
  for (const std::string& path : candidates) {
    const Result<Fd> fd = root.open_at(path, O_PATH);
    struct stat status {};
    if (!fd || fstat(fd->get(), &status) != 0 || !S_ISREG(status.st_mode)) continue;
    if ((status.st_mode & 0111U) != 0) return path;
    error = system_error("run", path, EACCES);
    error.next = "make it executable: chmod a+x " + path;
  }
  return error;
}

Result<ProcessOutput> run_program(const RootDir& root, const std::vector<std::string>& argv, milliseconds limit) {
  SLIPWAY_TRY(path, find_program(root, argv.empty() ? std::string() : argv.front()));
  SLIPWAY_TRY(child, start_child(root, path, argv));
  Running running(std::move(child));
  const auto deadline = limit.count() > 0 ? Clock::now() + limit : Clock::time_point::max();
  if (running.wait_until(deadline)) return running.result();
  running.signal(SIGTERM);
  const bool ended = running.wait_until(Clock::now() + kGrace);
  running.signal(SIGKILL);  // also what the program started, if it ended without it
  if (!ended) (void)running.wait_until(Clock::now() + kGrace);
  return ran_too_long(argv.front(), limit, running.result());
}

}  // namespace slipway::detail
