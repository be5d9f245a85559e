// SPDX-License-Identifier: Apache-2.0
// tests/component/deviceplugin/held.hpp - a pod that keeps a file or folder of its own locked in the kernel.
#pragma once

#include <csignal>
#include <filesystem>
#include <fstream>
#include <string>

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/component/service/running_service.hpp"

namespace slipway::testing {

class Held {
 public:
  /// Locks a file exclusively, a folder shared with other readers.
  explicit Held(const std::filesystem::path& place) {
    int ready[2];
    if (::pipe2(ready, O_CLOEXEC) != 0) return;
    holder_ = start("hold", place, ready[1]);
    ::close(ready[1]);
    char told = 0;
    held_ = holder_ > 0 && ::read(ready[0], &told, 1) == 1;
    ::close(ready[0]);
  }
  ~Held() {
    for (const pid_t each : {holder_, queued_}) {  // in this order: the second one waits for the first
      if (each > 0) ::kill(each, SIGKILL);
      if (each > 0) ::waitpid(each, nullptr, 0);
    }
  }
  Held(const Held&) = delete;
  Held& operator=(const Held&) = delete;

  /// False if the kernel has no such memory for this process.
  explicit operator bool() const { return held_; }

  /// Creates a file in the folder, which blocks, and so blocks every lookup there.
  bool queue(const std::filesystem::path& file) {
    queued_ = start("queue", file, STDERR_FILENO);
    return eventually([this] {
      std::ifstream in("/proc/" + std::to_string(queued_) + "/stat");
      const std::string text{std::istreambuf_iterator<char>(in), {}};
      return text.find(") D ") != std::string::npos;
    });
  }

 private:
  /// @return the pod's process id; negative if not found
  static pid_t start(const char* verb, const std::filesystem::path& place, int output) {
    const char* const words[] = {SLIPWAY_TEST_HOLDER, verb, place.c_str(), nullptr};
    posix_spawn_file_actions_t actions;
    ::posix_spawn_file_actions_init(&actions);
    ::posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO);
    pid_t child = -1;
    const int failed = ::posix_spawn(&child, words[0], &actions, nullptr, const_cast<char* const*>(words), environ);
    ::posix_spawn_file_actions_destroy(&actions);
    return failed != 0 ? -1 : child;
  }

  pid_t holder_ = -1;
  pid_t queued_ = -1;
  bool held_ = false;
};

}  // namespace slipway::testing
