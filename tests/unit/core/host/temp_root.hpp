// SPDX-License-Identifier: Apache-2.0
// tests/unit/core/host/temp_root.hpp - an empty folder that serves as a root filesystem and is removed at the end of
// the test.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <sstream>
#include <string>

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/xattr.h>

#include <slipway/root_dir.hpp>

namespace slipway::test {

class TempRoot {
 public:
  TempRoot() {
    // Short, because paths of sockets are limited to 107 bytes (unix(7)).
    std::string name = (std::filesystem::temp_directory_path() / "slip-XXXXXX").string();
    folder_ = ::mkdtemp(name.data());
  }
  TempRoot(const TempRoot&) = delete;
  TempRoot& operator=(const TempRoot&) = delete;
  ~TempRoot() {
    std::error_code ignored;
    std::filesystem::remove_all(folder_, ignored);
  }

  const std::string& folder() const { return folder_; }
  /// Returns the host path of a path inside.
  std::string at(const std::string& path) const { return folder_ + path; }
  RootDir dir() const { return *RootDir::open(folder_); }

  void put(const std::string& path, const std::string& content, mode_t mode = 0644) const {
    std::filesystem::create_directories(std::filesystem::path(at(path)).parent_path());
    std::ofstream(at(path), std::ios::binary) << content;
    ::chmod(at(path).c_str(), mode);
  }
  void link(const std::string& path, const std::string& points_to) const {
    std::filesystem::create_directories(std::filesystem::path(at(path)).parent_path());
    std::filesystem::create_symlink(points_to, at(path));
  }
  void make_folder(const std::string& path) const { std::filesystem::create_directories(at(path)); }

  bool has(const std::string& path) const { return std::filesystem::exists(std::filesystem::symlink_status(at(path))); }
  std::string content(const std::string& path) const {
    std::ifstream file(at(path), std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  struct stat info(const std::string& path) const {
    struct stat result {};
    EXPECT_EQ(::lstat(at(path).c_str(), &result), 0) << path;
    return result;
  }
  unsigned mode(const std::string& path) const { return info(path).st_mode & 07777; }

  enum class Times { none, files, all };
  /// Lists every path with type, mode, owner, mtime, link target, content and extended attributes, one per line.
  std::string listing(Times times = Times::all) const {
    std::map<std::string, std::string> lines;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(folder_)) {
      const std::string path = entry.path().string().substr(folder_.size());
      lines[path] = describe(path, times);
    }
    std::ostringstream text;
    for (const auto& [path, line] : lines) text << path << " " << line << "\n";
    return text.str();
  }

 private:
  std::string describe(const std::string& path, Times times) const {
    const struct stat found = info(path);
    std::ostringstream line;
    line << std::oct << found.st_mode << std::dec << " " << found.st_uid << ":" << found.st_gid;
    const bool folder = S_ISDIR(found.st_mode);
    if (times == Times::all || (times == Times::files && !folder))
      line << " " << found.st_mtim.tv_sec << "." << found.st_mtim.tv_nsec;
    if (S_ISLNK(found.st_mode)) line << " -> " << std::filesystem::read_symlink(at(path)).string();
    if (S_ISREG(found.st_mode)) line << " " << std::hash<std::string>{}(content(path)) << " " << found.st_size;
    if (S_ISCHR(found.st_mode)) line << " rdev " << found.st_rdev;
    std::string names(4096, '\0');
    const ssize_t size = ::llistxattr(at(path).c_str(), names.data(), names.size());
    for (ssize_t i = 0; i < size; ++i)
      line << (names[static_cast<std::size_t>(i)] == '\0' ? ' ' : names[static_cast<std::size_t>(i)]);
    return line.str();
  }

  std::string folder_;
};

}  // namespace slipway::test
