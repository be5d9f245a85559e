// SPDX-License-Identifier: Apache-2.0
#include "deviceplugin/service/mps/command.hpp"

#include <cerrno>
#include <csignal>
#include <thread>

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <slipway/root_dir.hpp>

namespace slipway::deviceplugin {
namespace {

constexpr std::chrono::milliseconds kKilledLimit{5'000};  // the kernel may hold a process that was killed
constexpr std::chrono::milliseconds kChildStep{2};

std::vector<char*> pointers(std::vector<std::string>& words) {
  std::vector<char*> all;
  for (std::string& word : words) all.push_back(word.data());
  all.push_back(nullptr);
  return all;
}

/// Reads to the end, or until the limit of time or of bytes.
bool read_all(int fd, std::string& text, std::chrono::milliseconds limit) {
  const auto end = std::chrono::steady_clock::now() + limit;
  char part[512];
  while (true) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(end - std::chrono::steady_clock::now());
    pollfd wanted{fd, POLLIN, 0};
    if (left.count() <= 0 || ::poll(&wanted, 1, static_cast<int>(left.count())) != 1) return false;
    const ssize_t got = ::read(fd, part, sizeof part);
    if (got <= 0) return got == 0;
    text.append(part, static_cast<std::size_t>(got));
    if (text.size() > kMostAnswerBytes) return false;
  }
}

}  // namespace

bool child_ended(pid_t pid, std::chrono::milliseconds limit, int* status) {
  const auto end = std::chrono::steady_clock::now() + limit;
  while (true) {
    const pid_t got = ::waitpid(pid, status, WNOHANG);
    if (got == pid || (got < 0 && errno == ECHILD)) return true;
    if (std::chrono::steady_clock::now() >= end) return false;
    std::this_thread::sleep_for(kChildStep);
  }
}

Result<pid_t> start_command(std::vector<std::string> argv, std::vector<std::string> environment, int input,
                            int output) {
  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;
  posix_spawn_file_actions_init(&actions);
  posix_spawnattr_init(&attributes);
  const auto redirect = [&actions](int from, int to, int flags) {
    if (from >= 0)
      posix_spawn_file_actions_adddup2(&actions, from, to);
    else
      posix_spawn_file_actions_addopen(&actions, to, "/dev/null", flags, 0);
  };
  redirect(input, STDIN_FILENO, O_RDONLY);
  redirect(output, STDOUT_FILENO, O_WRONLY);
  redirect(output, STDERR_FILENO, O_WRONLY);
  sigset_t none;
  sigset_t usual;
  sigemptyset(&none);
  sigfillset(&usual);
  sigdelset(&usual, SIGKILL);
  sigdelset(&usual, SIGSTOP);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setsigdefault(&attributes, &usual);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  pid_t pid = -1;
  const int problem =
      ::posix_spawnp(&pid, argv[0].c_str(), &actions, &attributes, pointers(argv).data(), pointers(environment).data());
  posix_spawn_file_actions_destroy(&actions);
  posix_spawnattr_destroy(&attributes);
  if (problem != 0) return system_error("start", argv[0], problem);
  return pid;
}

Result<CommandOutput> run_command(std::vector<std::string> argv, std::vector<std::string> environment,
                                  const std::string& input, std::chrono::milliseconds limit) {
  const MpsBudget time(limit);
  int in[2];
  int out[2];
  if (::pipe2(in, O_CLOEXEC) != 0) return system_error("make", "a pipe", errno);
  const Fd child_in(in[0]);
  Fd to_child(in[1]);
  if (::pipe2(out, O_CLOEXEC) != 0) return system_error("make", "a pipe", errno);
  const Fd from_child(out[0]);
  Fd child_out(out[1]);
  SLIPWAY_TRY(pid, start_command(std::move(argv), std::move(environment), child_in.get(), child_out.get()));
  child_out = Fd();
  (void)!::write(to_child.get(), input.data(), input.size());
  to_child = Fd();
  CommandOutput result;
  int status = 0;
  result.ended = read_all(from_child.get(), result.text, limit) && child_ended(pid, time.left(), &status);
  if (!result.ended) {
    ::kill(pid, SIGKILL);
    (void)child_ended(pid, kKilledLimit, &status);
  }
  if (WIFEXITED(status)) result.status = WEXITSTATUS(status);
  return result;
}

}  // namespace slipway::deviceplugin
