// SPDX-License-Identifier: Apache-2.0
#include "deviceplugin/service/mps/pipe/pipe_folder.hpp"

#include <cerrno>
#include <cstdio>
#include <filesystem>

#include <sys/stat.h>
#include <unistd.h>

namespace slipway::deviceplugin {
namespace {

namespace fs = std::filesystem;

constexpr const char* kAside = ".aside-";
// A folder stays aside until the pods that fill it, or lock files in it, end. One pod can fill several: it reaches
// later folders through other pods that pass their descriptors on.
constexpr int kMostAside = 64;

/// Links the files instead of moving them: a move could block behind other moves in that file system, which pods can
/// cause.
void take_files_along(const fs::path& from, const fs::path& to) {
  std::error_code failed;
  fs::create_directories(to, failed);
  for (fs::directory_iterator each(from, failed), end; !failed && each != end; each.increment(failed)) {
    std::error_code ignored;
    if (each->symlink_status(ignored).type() == fs::file_type::regular)
      fs::create_hard_link(each->path(), to / each->path().filename(), ignored);
  }
}

}  // namespace

std::string aside_name(const std::string& folder, int number) {
  const fs::path path(folder);
  return (path.parent_path() / ("." + path.filename().string() + kAside + std::to_string(number))).string();
}

bool is_aside(const std::string& name) { return name.starts_with('.') && name.find(kAside) != std::string::npos; }

Status renew_resource_folder(const std::string& folder) {
  for (int i = 0; i < kMostAside; ++i) {
    const std::string aside = aside_name(folder, i);
    struct stat info {};
    if (::lstat(aside.c_str(), &info) == 0) continue;  // rename(2) would wait for processes that work in it
    if (::rename(folder.c_str(), aside.c_str()) != 0) {
      if (errno == ENOENT) return {};
      return system_error("move aside", folder, errno);
    }
    take_files_along(aside, folder);
    take_files_along(aside + "/log", folder + "/log");
    return {};
  }
  Error error = system_error("move aside", folder, EEXIST);
  error.next = "end the pods that used MPS: slipway then removes their files, and MPS continues";
  return error;
}

}  // namespace slipway::deviceplugin
