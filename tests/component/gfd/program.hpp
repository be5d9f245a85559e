// SPDX-License-Identifier: Apache-2.0
// tests/component/gfd/program.hpp - runs commands, in the foreground and as a service, and looks at files.
#pragma once

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <sstream>
#include <string>
#include <thread>

#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <slipway/testing/temp_dir.hpp>

#include "tests/component/engine/spawn.hpp"

namespace slipway {

class Folder {
 public:
  std::string path() const { return folder_.string(); }
  std::string at(const std::string& inside) const { return folder_.at(inside).string(); }
  void file(const std::string& inside, const std::string& text) const { folder_.file(inside, text); }

 private:
  testing::TempDir folder_;
};

inline std::string content(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

struct Ran {
  int status = -1;
  std::string output;
  std::string errors;
};

/// Runs a shell command; -1 when a signal ended it.
inline Ran run(const std::string& command) {
  const Folder folder;
  const int status = std::system((command + " > '" + folder.at("out") + "' 2> '" + folder.at("err") + "'").c_str());
  return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, content(folder.at("out")), content(folder.at("err"))};
}

/// Returns inode and time of a path's last write.
inline std::pair<ino_t, std::int64_t> written(const std::string& path) {
  struct stat status {};
  if (stat(path.c_str(), &status) != 0) return {0, 0};
  return {status.st_ino, std::int64_t{status.st_mtim.tv_sec} * 1000000000 + status.st_mtim.tv_nsec};
}

/// Waits for a condition. @return false after `limit`
inline bool eventually(const std::function<bool()>& holds, std::chrono::seconds limit = std::chrono::seconds(20)) {
  const auto end = std::chrono::steady_clock::now() + limit;
  while (!holds()) {
    if (std::chrono::steady_clock::now() > end) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  return true;
}

/// A program that runs beside the test; the destructor ends it by SIGTERM.
class Background {
 public:
  explicit Background(const std::string& command, const std::string& log) {
    pid_ = testing::spawn({.words = {"/bin/sh", "-c", "exec " + command}, .out = log, .err = log});
  }
  ~Background() {
    if (pid_ > 0) (void)stop();
  }
  Background(const Background&) = delete;
  Background& operator=(const Background&) = delete;
  void signal(int number) const { kill(pid_, number); }
  bool running() const { return waitpid(pid_, nullptr, WNOHANG) == 0; }
  /// @return its exit status; -1 when a signal ended it
  int stop() {
    int status = 0;
    kill(pid_, SIGTERM);
    waitpid(pid_, &status, 0);
    pid_ = -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }

 private:
  pid_t pid_ = -1;
};

}  // namespace slipway
