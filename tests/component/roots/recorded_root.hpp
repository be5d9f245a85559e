// SPDX-License-Identifier: Apache-2.0
// tests/component/roots/recorded_root.hpp - makes a scratch root of a description of a distribution's layout.
//
// A line each: `os` of /etc/os-release, `kernel` that is installed, `folder`, `link` with its target, empty `file`, and
// `tool`, a program that writes down how it is called (recorded_tool.cpp).
#pragma once

#include <fstream>
#include <sstream>
#include <string>

#include "tests/component/cli/driver_root.hpp"

namespace slipway::testing {

class RecordedRoot : public ScratchHost {
 public:
  explicit RecordedRoot(const std::string& name) : name_(name) {
    std::ifstream lines(std::string(SLIPWAY_RECORDED) + "/" + name);
    std::filesystem::create_directories(path("etc"));
    std::filesystem::create_directories(path("var/log"));
    for (std::string line; std::getline(lines, line);) make(line);
    EXPECT_FALSE(kernel_.empty()) << name << " is not recorded";
    spec("    driver: {version: \"535.261.03\", modules: open, source: {repository: " +
         std::string(SLIPWAY_RECORDED_PACKAGES) + "/" + name + ", trust: unsigned}}\n");
  }

  const std::string& kernel() const { return kernel_; }
  Ran run(std::vector<std::string> words) const {
    words.insert(words.end(), {"--sim", "h100x8"});
    return slipway(words);
  }
  /// Returns the calls of the root's tools since the last time, a line each.
  std::string gpu_name() const {
    std::string text = this->text("var/log/tools");
    std::filesystem::remove(path("var/log/tools"));
    return text;
  }
  /// Returns "…" for a link such as "/usr/lib64/x", or empty when it is not a link.
  std::string link(const std::string& inside) const {
    std::error_code none;
    return std::filesystem::read_symlink(path(inside), none).string();
  }

 private:
  void make(const std::string& line) {
    std::istringstream words(line);
    std::string kind;
    std::string first;
    std::string second;
    words >> kind >> std::ws;
    if (kind == "os") {
      std::getline(words, first);
      std::ofstream(path("etc/os-release"), std::ios::app) << first << "\n";
    }
    words >> first >> second;
    if (kind == "kernel") kernel_ = first;
    if (first.empty() || first.front() != '/') return;
    const std::filesystem::path at = path(first.substr(1));
    std::filesystem::create_directories(kind == "folder" ? at : at.parent_path());
    if (kind == "link") std::filesystem::create_symlink(second, at);
    if (kind == "file") std::ofstream(at) << "";
    if (kind == "tool") std::filesystem::copy_file(SLIPWAY_RECORDED_TOOL, at);
  }

  std::string name_;
  std::string kernel_;
};

}  // namespace slipway::testing
