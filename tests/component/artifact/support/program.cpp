// SPDX-License-Identifier: Apache-2.0
#include "tests/component/artifact/support/program.hpp"

#include <array>
#include <csignal>
#include <cstdio>
#include <stdexcept>

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

extern char** environ;

namespace slipway::artifact::test {

void require_program(const std::string& program, const std::string& package) {
  if (run("command -v " + program).status != 0)
    throw std::runtime_error("this test needs the program " + program + " (Debian package " + package +
                             "): ./dev test installs it");
}

ProgramOutput run(const std::string& command) {
  ProgramOutput output;
  FILE* const pipe = ::popen(("(" + command + ") 2>&1").c_str(), "re");
  if (pipe == nullptr) throw std::runtime_error("cannot run " + command);
  std::array<char, 4096> buffer{};
  while (const std::size_t count = std::fread(buffer.data(), 1, buffer.size(), pipe))
    output.text.append(buffer.data(), count);
  const int status = ::pclose(pipe);
  output.status = WIFEXITED(status) ? WEXITSTATUS(status) : 128;
  return output;
}

Background::Background(const std::vector<std::string>& argv, const std::string& log) {
  std::vector<char*> raw;
  for (const std::string& word : argv) raw.push_back(const_cast<char*>(word.c_str()));
  raw.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, log.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0644);
  posix_spawn_file_actions_adddup2(&actions, STDOUT_FILENO, STDERR_FILENO);
  const int problem = ::posix_spawnp(&pid_, raw[0], &actions, nullptr, raw.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (problem != 0) throw std::runtime_error("cannot start " + argv[0]);
}

Background::~Background() {
  ::kill(pid_, SIGKILL);
  ::waitpid(pid_, nullptr, 0);
}

bool Background::running() const { return ::waitpid(pid_, nullptr, WNOHANG) == 0; }

}  // namespace slipway::artifact::test
