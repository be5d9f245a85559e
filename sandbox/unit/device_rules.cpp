// SPDX-License-Identifier: Apache-2.0
#include "sandbox/unit/device_rules.hpp"

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

#include <fnmatch.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

namespace slipway::sandbox {
namespace {

/// Uses access(2), which also checks the cgroup's rules, and opens nothing.
std::string closed_node_in(const std::string& folder, const std::set<unsigned>& majors, bool deeper) {
  std::error_code problem;
  struct stat around {};
  (void)::stat(folder.c_str(), &around);
  for (const auto& entry : std::filesystem::directory_iterator(folder, problem)) {
    const std::string path = entry.path().string();
    struct stat info {};
    if (::lstat(path.c_str(), &info) != 0) continue;
    if (S_ISCHR(info.st_mode) && majors.contains(major(info.st_rdev))) {
      if (::access(path.c_str(), R_OK) != 0 && errno == EPERM) return path;
    } else if (S_ISDIR(info.st_mode) && deeper && info.st_dev == around.st_dev) {
      std::string found = closed_node_in(path, majors, false);
      if (!found.empty()) return found;
    }
  }
  return {};
}

}  // namespace

std::string device_numbers(const std::vector<std::string>& classes, const std::string& list) {
  std::string numbers;
  std::ifstream in(list);
  std::string number;
  for (std::string name; in >> number >> name && number != "Block";)  // "Block devices:" ends the character devices
    if (std::ranges::any_of(classes, [&](const auto& glob) { return ::fnmatch(glob.c_str(), name.c_str(), 0) == 0; }))
      numbers += number + " " + name + "\n";
  return numbers;
}

std::string closed_node(const std::string& numbers, const std::string& dev) {
  std::set<unsigned> majors;
  std::istringstream in(numbers);
  std::string name;
  for (unsigned number = 0; in >> number >> name;) majors.insert(number);
  return majors.empty() ? std::string() : closed_node_in(dev, majors, true);
}

}  // namespace slipway::sandbox
