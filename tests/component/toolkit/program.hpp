// SPDX-License-Identifier: Apache-2.0
// tests/component/toolkit/program.hpp - a command line of a shell, run to its end.
#pragma once

#include <array>
#include <cstdio>
#include <string>

#include <sys/wait.h>

namespace slipway::testing {

struct Ran {
  int status = -1;     ///< -1 for one that a signal ended
  std::string output;  ///< both streams, or as the command redirects them
};

inline Ran shell(const std::string& command) {
  FILE* const pipe = ::popen(command.c_str(), "r");
  Ran ran;
  std::array<char, 4096> block{};
  while (const std::size_t count = std::fread(block.data(), 1, block.size(), pipe))
    ran.output.append(block.data(), count);
  const int status = ::pclose(pipe);
  ran.status = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  return ran;
}

}  // namespace slipway::testing
