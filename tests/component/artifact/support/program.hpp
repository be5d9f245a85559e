// SPDX-License-Identifier: Apache-2.0
// tests/component/artifact/support/program.hpp - programs that tests need: found or named as missing, run, kept
// running.
#pragma once

#include <string>
#include <vector>

#include <sys/types.h>

namespace slipway::artifact::test {

/// Fails with the name of the Debian package when the program is not in PATH.
void require_program(const std::string& program, const std::string& package);

struct ProgramOutput {
  int status = 0;
  std::string text;  ///< standard output and error together
};

/// Runs a shell command line.
ProgramOutput run(const std::string& command);

/// A program in the background, killed with this object.
class Background {
 public:
  Background(const std::vector<std::string>& argv, const std::string& log);
  ~Background();
  Background(const Background&) = delete;
  Background& operator=(const Background&) = delete;
  bool running() const;

 private:
  pid_t pid_ = -1;
};

}  // namespace slipway::artifact::test
