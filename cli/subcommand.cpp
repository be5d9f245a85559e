// SPDX-License-Identifier: Apache-2.0
#include "cli/subcommand.hpp"

#include <chrono>
#include <cstring>
#include <thread>

#include <fcntl.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <slipway/root_dir.hpp>

#include "core/worker/client/spawn.hpp"

namespace slipway::core {
namespace {

constexpr std::chrono::milliseconds kStep{20};
constexpr std::size_t kLongest = std::size_t{16} << 20U;

std::string content_of(int file) {
  std::string text;
  char part[1 << 14];
  off_t at = 0;
  for (ssize_t got = 0; text.size() < kLongest && (got = ::pread(file, part, sizeof part, at)) > 0; at += got)
    text.append(part, static_cast<std::size_t>(got));
  return text;
}

std::string wait_for(pid_t child, std::optional<std::chrono::seconds> limit) {
  const auto begin = std::chrono::steady_clock::now();
  int status = 0;
  while (::waitpid(child, &status, limit ? WNOHANG : 0) == 0) {
    if (std::chrono::steady_clock::now() - begin >= *limit) {
      ::kill(child, SIGKILL);
      ::waitpid(child, &status, 0);
      return "stopped after " + std::to_string(limit->count()) + " s";
    }
    std::this_thread::sleep_for(kStep);
  }
  return WIFEXITED(status) ? "exit " + std::to_string(WEXITSTATUS(status))
                           : "signal " + std::to_string(WTERMSIG(status));
}

}  // namespace

CommandOutput run_own_program(const std::string& name, std::vector<std::string> words,
                              std::optional<std::chrono::seconds> limit) {
  const auto program = own_program(name);
  if (!program) return {"", "", program.error().what};
  const Fd out(::memfd_create("out", MFD_CLOEXEC));
  const Fd err(::memfd_create("err", MFD_CLOEXEC));
  words.insert(words.begin(), name);
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  ::posix_spawn_file_actions_adddup2(&actions, out.get(), STDOUT_FILENO);
  ::posix_spawn_file_actions_adddup2(&actions, err.get(), STDERR_FILENO);
  pid_t child = -1;
  const int failed = ::posix_spawn(&child, program->c_str(), &actions, nullptr, arguments.data(), environ);
  ::posix_spawn_file_actions_destroy(&actions);
  if (failed != 0) return {"", "", std::string("cannot be started: ") + std::strerror(failed)};
  std::string ended = wait_for(child, limit);
  return {content_of(out.get()), content_of(err.get()), std::move(ended)};
}

}  // namespace slipway::core
