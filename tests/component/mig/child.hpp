// SPDX-License-Identifier: Apache-2.0
// tests/component/mig/child.hpp - a real process that a simulated GPU has, and programs beside the one under test.
#pragma once

#include <array>
#include <csignal>
#include <string>
#include <utility>
#include <vector>

#include <sys/wait.h>
#include <unistd.h>

#include "node.hpp"

namespace slipway::testing {

/// Runs a program in the background, with files for its output.
class Beside {
 public:
  Beside(const ScratchHost& host, const std::string& name, std::vector<std::string> words) : host_(host), name_(name) {
    words.insert(words.begin(), host.program);
    words.insert(words.end(),
                 {"--root", host.folder().at("root").string(), "--cache", host.folder().at("cache").string()});
    pid_ = spawn({.words = std::move(words),
                  .variables = {"SLIPWAY_PLUGIN_PATH=" + host.plugins,
                                "SLIPWAY_LOG_DIR=" + host.folder().at(name + "-log").string()},
                  .out = host.folder().at(name + "-out").string(),
                  .err = host.folder().at(name + "-err").string()});
  }
  Beside(const Beside&) = delete;
  Beside& operator=(const Beside&) = delete;
  ~Beside() {
    if (pid_ > 0) ::kill(pid_, SIGKILL);
    if (pid_ > 0) ::waitpid(pid_, nullptr, 0);
  }
  bool runs() const { return ::waitpid(pid_, nullptr, WNOHANG) == 0; }
  std::string errors() const {
    std::ifstream in(host_.folder().at(name_ + "-err"));
    return {std::istreambuf_iterator<char>(in), {}};
  }

 private:
  const ScratchHost& host_;
  std::string name_;
  pid_t pid_ = -1;
};

/// An idle process that runs until it is ended. It is ready after the construction.
class Child {
 public:
  explicit Child(const char* trap = "") {
    std::array<int, 2> ready{};
    EXPECT_EQ(::pipe(ready.data()), 0);
    pid_ = ::fork();
    if (pid_ == 0) {
      if (std::string(trap) == "deaf") ::signal(SIGTERM, SIG_IGN);
      ::close(ready[0]);
      ::close(ready[1]);
      for (;;) ::pause();
    }
    ::close(ready[1]);
    char letter = 0;
    EXPECT_EQ(::read(ready[0], &letter, 1), 0);
    ::close(ready[0]);
  }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;
  ~Child() { end(); }

  std::string pid() const { return std::to_string(pid_); }
  bool runs() const { return ::waitpid(pid_, nullptr, WNOHANG) == 0; }
  void end() {
    if (pid_ <= 0) return;
    ::kill(pid_, SIGKILL);
    ::waitpid(std::exchange(pid_, -1), nullptr, 0);
  }
  /// Waits for its end. @return the signal that ended it
  int end_signal() {
    int status = 0;
    ::waitpid(std::exchange(pid_, -1), &status, 0);
    return WIFSIGNALED(status) ? WTERMSIG(status) : 0;
  }

 private:
  pid_t pid_ = -1;
};

}  // namespace slipway::testing
