// SPDX-License-Identifier: Apache-2.0
// tests/component/toolkit/hook_fixture.hpp - runs slipway-cdi-hook as a container runtime runs it, on a root of the
// test's.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <sstream>
#include <string>
#include <vector>

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <unistd.h>

#include <slipway/json.hpp>
#include <slipway/testing/temp_dir.hpp>

namespace slipway {

namespace fs = std::filesystem;

/// Called in the child before the program starts, for its own mounts, or after it has ended, to inspect them.
using Inside = std::function<void(const fs::path& root)>;

struct Ran {
  int status = -1;
  std::string output;
};

inline std::string text_of(const fs::path& file) {
  std::ostringstream text;
  text << std::ifstream(file, std::ios::binary).rdbuf();
  return text.str();
}

class HookTest : public ::testing::Test {
 protected:
  HookTest() {
    folder_.directory("root/etc");
    folder_.file("host/secret", "untouched\n");
  }

  fs::path in(const std::string& path) const { return folder_.at("root/" + path); }
  void state(const Json& value) { folder_.file("state.json", canonical(value)); }

  Ran hook(const std::vector<std::string>& words, const Inside& inside = {}, const Inside& after = {}) {
    if (!fs::exists(folder_.at("state.json"))) state({{"ociVersion", "1.1.0"}, {"root", folder_.at("root").string()}});
    const pid_t child = ::fork();
    if (child == 0) run(words, inside, after);
    int status = 0;
    ::waitpid(child, &status, 0);
    return {WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status), text_of(folder_.at("said"))};
  }

  /// Creates libraries that a linker can find, with the real ones' sonames.
  void libraries() {
    folder_.file("root/etc/debian_version", "12.0\n");
    folder_.directory("root/opt/nvidia");
    fs::copy(SLIPWAY_ANY_LIBRARY, in("opt/nvidia/libany.so.1.2.3"), fs::copy_options::copy_symlinks);
  }

  slipway::testing::TempDir folder_;
  std::vector<std::string> runner_;  ///< a program that runs the hook, such as strace, with its arguments

 private:
  [[noreturn]] void run(const std::vector<std::string>& words, const Inside& inside, const Inside& after) {
    (void)!std::freopen(folder_.at("state.json").c_str(), "r", stdin);
    (void)!std::freopen(folder_.at("said").c_str(), "w", stderr);
    (void)!std::freopen("/dev/null", "w", stdout);
    // A process that created a PID namespace cannot start LeakSanitizer's thread.
    ::setenv("ASAN_OPTIONS", "detect_leaks=0", 1);
    if (inside) inside(folder_.at("root"));
    if (const pid_t child = after ? ::fork() : 0; child != 0) {
      int status = 0;
      ::waitpid(child, &status, 0);
      after(folder_.at("root"));
      ::_exit(WIFEXITED(status) ? WEXITSTATUS(status) : 126);
    }
    std::vector<std::string> all = runner_;
    all.emplace_back(SLIPWAY_CDI_HOOK);
    all.insert(all.end(), words.begin(), words.end());
    std::vector<char*> argv;
    for (std::string& word : all) argv.push_back(word.data());
    argv.push_back(nullptr);
    ::execvp(argv[0], argv.data());
    ::_exit(127);
  }
};

#define NEEDS_ROOT() \
  if (::geteuid() != 0) GTEST_SKIP() << "only root makes mounts and device nodes"

}  // namespace slipway
