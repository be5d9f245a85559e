// SPDX-License-Identifier: Apache-2.0
// tests/fuzz/scratch_tree.hpp - folders and files in memory for a target that unpacks, or reads by path.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/fuzz/fuzz_check.hpp"

namespace slipway::fuzz {

/// /dev/shm/slipway-fuzz-PID, removed at the end of the program.
class Scratch {
 public:
  Scratch() : folder_("/dev/shm/slipway-fuzz-" + std::to_string(::getpid())) {
    std::filesystem::create_directories(folder_);
  }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  ~Scratch() { std::filesystem::remove_all(folder_); }
  const std::filesystem::path& folder() const { return folder_; }

 private:
  std::filesystem::path folder_;
};

/// An unnamed file with these bytes.
class MemoryFile {
 public:
  explicit MemoryFile(std::string_view bytes) : fd_(::memfd_create("input", MFD_CLOEXEC)) {
    if (fd_ < 0 || ::write(fd_, bytes.data(), bytes.size()) != static_cast<ssize_t>(bytes.size())) std::abort();
  }
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;
  ~MemoryFile() { ::close(fd_); }
  int fd() const { return fd_; }
  std::string path() const { return "/proc/self/fd/" + std::to_string(fd_); }

 private:
  int fd_;
};

inline void write_file(const std::filesystem::path& path, std::string_view bytes) {
  const int fd = ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  if (fd < 0 || ::write(fd, bytes.data(), bytes.size()) != static_cast<ssize_t>(bytes.size())) std::abort();
  ::close(fd);
}

/// Splits at NUL bytes; the last part is the rest, with any content.
inline std::vector<std::string_view> parts_of(std::string_view input, std::size_t most) {
  std::vector<std::string_view> parts;
  while (parts.size() + 1 < most) {
    const std::size_t end = input.find('\0');
    if (end == std::string_view::npos) break;
    parts.push_back(input.substr(0, end));
    input.remove_prefix(end + 1);
  }
  parts.push_back(input);
  return parts;
}

/// Checks an unpacked tree.
inline void demand_plain(const std::filesystem::path& tree) {
  for (const auto& entry : std::filesystem::recursive_directory_iterator(tree)) {
    struct stat info {};
    demand(::lstat(entry.path().c_str(), &info) == 0, "what is there can be looked at");
    demand(S_ISREG(info.st_mode) || S_ISDIR(info.st_mode) || S_ISLNK(info.st_mode), "no devices or pipes");
    demand((info.st_mode & (S_ISUID | S_ISGID)) == 0, "no setuid or setgid");
  }
}

}  // namespace slipway::fuzz
