// SPDX-License-Identifier: Apache-2.0
// sdk/slipway/testing/temp_dir.hpp - a folder for one test, removed at the end of the test.
#pragma once

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <system_error>
#include <utility>

namespace slipway::testing {

/// A new, empty folder below $TMPDIR (or /tmp). Throws std::system_error when it cannot be made, which ends the test.
class TempDir {
 public:
  TempDir() {
    // Short, since the paths of sockets are limited (unix(7): 107 bytes).
    std::string name = (std::filesystem::temp_directory_path() / "slip-XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr) throw std::system_error(errno, std::generic_category(), name);
    path_ = std::filesystem::canonical(name);
  }
  TempDir(TempDir&& other) noexcept : path_(std::exchange(other.path_, {})) {}
  TempDir& operator=(TempDir&& other) noexcept {
    std::swap(path_, other.path_);
    return *this;
  }
  ~TempDir() {
    std::error_code ignored;
    if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
  }

  const std::filesystem::path& path() const { return path_; }
  std::string string() const { return path_.string(); }

  /// Returns the path on this machine of a path in the tree: `inside` may begin with a slash.
  std::filesystem::path at(const std::string& inside) const {
    return path_ / std::filesystem::path(inside).relative_path();
  }
  void file(const std::string& inside, const std::string& content) const {
    std::filesystem::create_directories(at(inside).parent_path());
    std::ofstream(at(inside), std::ios::binary) << content;
  }
  void directory(const std::string& inside) const { std::filesystem::create_directories(at(inside)); }
  void link(const std::string& inside, const std::string& points_to) const {
    std::filesystem::create_directories(at(inside).parent_path());
    std::filesystem::create_symlink(points_to, at(inside));
  }

 private:
  std::filesystem::path path_;
};

}  // namespace slipway::testing
