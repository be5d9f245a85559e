// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <cerrno>
#include <csignal>
#include <optional>

#include <dlfcn.h>
#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <slipway/root_dir.hpp>
#include <slipway/trusted_owner.hpp>

#include "validator/cuda_check.hpp"

namespace slipway::validator {
namespace {

using Clock = std::chrono::steady_clock;
constexpr std::size_t kMostOutput = 1 << 20;
constexpr int kLookEveryMs = 50;

std::vector<char*> pointers(std::vector<std::string>& texts) {
  std::vector<char*> list;
  for (std::string& text : texts) list.push_back(text.data());
  list.push_back(nullptr);
  return list;
}

Result<pid_t> start(std::vector<std::string>& argv, std::vector<std::string>& environment, int output) {
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO);
  posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  pid_t pid = -1;
  const int problem =
      posix_spawn(&pid, argv.front().c_str(), &actions, nullptr, pointers(argv).data(), pointers(environment).data());
  posix_spawn_file_actions_destroy(&actions);
  if (problem != 0) return system_error("start", argv.front(), problem);
  return pid;
}

/// Reads until the end of the output. @return why it has to be killed
std::optional<Error> read_all(int fd, const std::string& program, Clock::time_point deadline,
                              const std::stop_token& stop, std::string& output) {
  std::array<char, 4096> part;
  for (;;) {
    if (stop.stop_requested()) return Error{ErrorCode::cancelled, program + " was not waited for", {}, {}, {}};
    if (Clock::now() >= deadline) return Error{ErrorCode::timed_out, program + " did not answer in time", {}, {}, {}};
    pollfd wanted{fd, POLLIN, 0};
    if (::poll(&wanted, 1, kLookEveryMs) <= 0) continue;
    const ssize_t got = ::read(fd, part.data(), part.size());
    if (got == 0) return std::nullopt;
    if (got < 0 && errno != EINTR && errno != EAGAIN) return system_error("read from", program, errno);
    if (got > 0 && output.size() < kMostOutput) output.append(part.data(), static_cast<std::size_t>(got));
  }
}

}  // namespace

Result<std::string> run_probe(std::vector<std::string> argv, std::vector<std::string> environment,
                              std::chrono::milliseconds limit, const std::stop_token& stop) {
  std::array<int, 2> ends{-1, -1};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) return system_error("make a pipe for", argv.front(), errno);
  const Fd ours(ends[0]);
  Fd theirs(ends[1]);
  SLIPWAY_TRY(pid, start(argv, environment, theirs.get()));
  theirs = Fd();
  std::string output;
  const auto problem = read_all(ours.get(), argv.front(), Clock::now() + limit, stop, output);
  if (problem) ::kill(pid, SIGKILL);
  int status = 0;
  // A process that hangs in the kernel cannot be waited for; it goes when the driver lets it.
  for (int looks = 0; ::waitpid(pid, &status, problem ? WNOHANG : 0) == 0 && looks < 20; ++looks) ::usleep(50'000);
  if (problem) return *problem;
  if (WIFSIGNALED(status))
    return Error{ErrorCode::io, argv.front() + " ended with signal " + std::to_string(WTERMSIG(status)), {}, {}, {}};
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
    return Error{ErrorCode::io, argv.front() + " ended with status " + std::to_string(WEXITSTATUS(status)), {}, {}, {}};
  return output;
}

Result<std::string> program_beside_plugin(const std::string& name) {
  Dl_info info{};
  if (::dladdr(reinterpret_cast<const void*>(&run_probe), &info) == 0 || info.dli_fname == nullptr)
    return Error{ErrorCode::internal, "the plugin does not know where it is", {}, {}, {}};
  std::string path = info.dli_fname;
  path = path.substr(0, path.rfind('/') + 1) + name;
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0) return system_error("find", path, errno);
  const bool others = (status.st_mode & 0022U) != 0 || !is_trusted_owner(status.st_uid);
  if (others)
    return Error{ErrorCode::denied,
                 path + " may be changed by others",
                 path,
                 "chown root " + path + " && chmod go-w " + path,
                 {}};
  return path;
}

}  // namespace slipway::validator
