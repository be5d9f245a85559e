// SPDX-License-Identifier: Apache-2.0
// tests/component/engine/spawn.hpp - starts a program from a test that has threads.
//
// A test with a gRPC server has threads, and one of them may hold the allocator's lock at the moment of a fork: a child
// that then allocates or reopens its streams waits forever. posix_spawn(3) does nothing of that kind in the child.
#pragma once

#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include <fcntl.h>
#include <spawn.h>
#include <unistd.h>

namespace slipway::testing {

struct Spawn {
  std::vector<std::string> words;           ///< the program, looked up in $PATH when it has no slash, and its arguments
  std::vector<std::string> variables = {};  ///< "NAME=value", replacing the test's own
  std::string in = "/dev/null";
  std::string out = {};  ///< a file that is created; empty: the test's own
  std::string err = {};  ///< may be the same file as `out`
  bool own_group = false;
};

/// Returns this process's environment with some variables replaced.
inline std::vector<std::string> environment_with(const std::vector<std::string>& variables) {
  std::vector<std::string> all = variables;
  for (char** own = environ; *own != nullptr; ++own) {
    const std::string_view name = std::string_view(*own).substr(0, std::string_view(*own).find('=') + 1);
    bool replaced = false;
    for (const std::string& variable : variables) replaced = replaced || variable.starts_with(name);
    if (!replaced) all.emplace_back(*own);
  }
  return all;
}

/// @return its pid, which the caller waits for
/// @throws std::system_error when it cannot be started, which fails the test
inline pid_t spawn(Spawn what) {
  std::vector<std::string> environment = environment_with(what.variables);
  const auto pointers = [](std::vector<std::string>& texts) {
    std::vector<char*> all;
    for (std::string& text : texts) all.push_back(text.data());
    all.push_back(nullptr);
    return all;
  };
  constexpr int kNew = O_WRONLY | O_CREAT | O_TRUNC;
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_addopen(&files, STDIN_FILENO, what.in.c_str(), O_RDONLY, 0);
  if (!what.out.empty()) posix_spawn_file_actions_addopen(&files, STDOUT_FILENO, what.out.c_str(), kNew, 0666);
  if (!what.err.empty() && what.err == what.out)
    posix_spawn_file_actions_adddup2(&files, STDOUT_FILENO, STDERR_FILENO);
  else if (!what.err.empty())
    posix_spawn_file_actions_addopen(&files, STDERR_FILENO, what.err.c_str(), kNew, 0666);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  if (what.own_group) posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
  pid_t child = -1;
  const int error = ::posix_spawnp(&child, what.words.front().c_str(), &files, &attributes, pointers(what.words).data(),
                                   pointers(environment).data());
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&files);
  if (error != 0) throw std::system_error(error, std::generic_category(), what.words.front());
  return child;
}

}  // namespace slipway::testing
