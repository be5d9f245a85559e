// SPDX-License-Identifier: Apache-2.0
// tests/component/engine/scratch_host.hpp - a scratch root, the program to run on it, and pictures of its tree.
#pragma once

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <slipway/json.hpp>
#include <slipway/testing/temp_dir.hpp>

#include "tests/component/engine/spawn.hpp"

namespace slipway::testing {

/// Waits for a condition, as long as a busy machine may need.
inline bool becomes_true(const std::function<bool()>& what) {
  const auto limit = std::chrono::steady_clock::now() + std::chrono::minutes(2);
  while (!what()) {
    if (std::chrono::steady_clock::now() > limit) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  return true;
}

struct Ran {
  int code = -1;
  std::string out;
  std::string err;
};

/// A folder with `root/`, `host.yaml` and a cache, and a slipway with the test's plugins only.
class ScratchHost {
 public:
  ScratchHost() {
    folder_.directory("root");
    folder_.directory("cache");
  }

  /// Sets the components section, YAML indented by four.
  void spec(const std::string& components) const {
    folder_.file("host.yaml",
                 "apiVersion: slipway.dev/v1\nkind: Host\nmetadata: {name: test}\nspec:\n  components:\n" + components);
  }
  std::filesystem::path path(const std::string& inside) const { return folder_.at("root/" + inside); }
  const TempDir& folder() const { return folder_; }
  /// Creates a file of the user, with the time of other files.
  void put(const std::string& inside, const std::string& content) const {
    folder_.file("root/" + inside, content);
    std::filesystem::last_write_time(path(inside), std::filesystem::file_time_type{});
  }
  /// Act on the running kernel too: custom actions are left to a boot otherwise.
  bool live = false;
  /// The root (an image if no machine is simulated) has slipway.
  bool installed = false;
  std::string program = SLIPWAY_PROGRAM;
  std::string plugins = SLIPWAY_TEST_PLUGINS;  ///< the plugin folder
  std::string text(const std::string& inside) const { return read(path(inside)); }

  /// Returns the standard error of the last started program.
  std::string error_text() const { return read(folder_.at("err")); }

  Ran slipway(const std::vector<std::string>& words) const { return ended(start(words)); }

  /// Runs the program with these arguments only.
  Ran bare(std::vector<std::string> words) const {
    words.insert(words.begin(), program);
    return ended(start_with(std::move(words), {}));
  }

  /// Starts it and returns its pid; output goes to files that slipway() reads.
  /// @param variables  "NAME=value", replacing the test's own
  pid_t start(std::vector<std::string> words, std::vector<std::string> variables = {}) const {
    words.insert(words.begin(), program);
    const auto is_one_of = [&words](const auto& names) { return std::ranges::count(names, words[1]) != 0; };
    const bool on_host =
        !is_one_of(std::array{"log", "plugin", "pkg", "explain", "completion", "version", "help", "--help"});
    if (on_host) words.insert(words.end(), {"--root", folder_.at("root").string()});
    const bool reads_package = words[1] == "pkg" && words.size() > 2 && (words[2] == "pull" || words[2] == "inspect");
    if (reads_package || (on_host && !is_one_of(std::array{"status", "graph", "generations", "diff", "repair"})))
      words.insert(words.end(), {"--cache", folder_.at("cache").string()});
    if (live && on_host) words.emplace_back("--live");
    if (words[1] == "plan" || words[1] == "apply") {
      const bool named = std::find(words.begin(), words.end(), "-f") != words.end();
      if (!named && (words.size() < 3 || words[2].starts_with("-"))) {
        words.insert(words.end(), {"-f", folder_.at("host.yaml").string()});
      }
      const bool simulated = std::ranges::any_of(words, [](const auto& word) { return word.starts_with("--sim"); });
      if (!live && !simulated && !installed && (words.size() < 3 || words[2].starts_with("-")))
        words.emplace_back("--without-slipway");
    }
    return start_with(std::move(words), std::move(variables));
  }

  std::int64_t mtime_ns(const std::string& inside) const {
    struct stat info {};
    ::lstat(path(inside).c_str(), &info);
    return info.st_mtim.tv_sec * 1'000'000'000 + info.st_mtim.tv_nsec;
  }

  /// Returns "type mode content" by path for everything in the root.
  std::map<std::string, std::string> tree() const {
    std::map<std::string, std::string> picture;
    namespace fs = std::filesystem;
    for (const auto& entry : fs::recursive_directory_iterator(folder_.at("root"))) {
      struct stat info {};
      ::lstat(entry.path().c_str(), &info);
      std::ostringstream line;
      line << std::oct << info.st_mode << ' ';
      if (entry.is_symlink())
        line << fs::read_symlink(entry.path()).string();
      else if (entry.is_regular_file())
        line << read(entry.path());
      // Not fs::relative(), which follows links: a link and its target would be one.
      picture[entry.path().lexically_relative(folder_.at("root")).string()] = line.str();
    }
    return picture;
  }

 private:
  pid_t start_with(std::vector<std::string> words, std::vector<std::string> variables) const {
    variables.push_back("SLIPWAY_PLUGIN_PATH=" + plugins);
    variables.push_back("SLIPWAY_LOG_DIR=" + folder_.at("log").string());
    return spawn({.words = std::move(words),
                  .variables = std::move(variables),
                  .out = folder_.at("out").string(),
                  .err = folder_.at("err").string()});
  }

  Ran ended(pid_t child) const {
    int status = 0;
    ::waitpid(child, &status, 0);
    return {WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status), read(folder_.at("out")),
            read(folder_.at("err"))};
  }
  static std::string read(const std::filesystem::path& file) {
    std::ifstream in(file, std::ios::binary);
    std::ostringstream text;
    text << in.rdbuf();
    return text.str();
  }
  TempDir folder_;
};

}  // namespace slipway::testing
