// SPDX-License-Identifier: Apache-2.0
#include <cerrno>
#include <cstdlib>

#include <sys/stat.h>
#include <unistd.h>

#include <slipway/text.hpp>

#include "toolkit/programs/slipway-runtime/bundle.hpp"

namespace slipway::shim {
namespace {

constexpr const char* kUsualPath = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

std::vector<std::string> folders_of_path() {
  const char* const variable = std::getenv("PATH");
  std::vector<std::string> folders = split(variable != nullptr && *variable != '\0' ? variable : kUsualPath, ':');
  std::erase_if(folders, [](const std::string& folder) { return !folder.starts_with('/'); });  // not searched
  return folders;
}

/// NVIDIA's runtime starts the program in its own settings, so that the two would start each other forever.
bool starts_itself(const std::string& program) {
  const std::string name = program.substr(program.rfind('/') + 1);
  return name.starts_with("nvidia-container-runtime") || name.starts_with("slipway-runtime");
}

bool is_other_program(const std::string& path) {
  struct stat own {};
  struct stat other {};
  if (::stat(path.c_str(), &other) != 0 || !S_ISREG(other.st_mode) || ::access(path.c_str(), X_OK) != 0) return false;
  if (::stat("/proc/self/exe", &own) != 0) return true;
  return own.st_dev != other.st_dev || own.st_ino != other.st_ino;
}

}  // namespace

Result<std::string> find_low_level(const std::vector<std::string>& names) {
  const auto folders = folders_of_path();
  std::string all;
  for (const std::string& name : names) {
    all += (all.empty() ? "" : ", ") + name;
    if (starts_itself(name)) continue;
    if (name.find('/') != std::string::npos) {
      if (is_other_program(name)) return name;
      continue;
    }
    for (const std::string& folder : folders) {
      std::string path = folder;
      path += "/" + name;
      if (is_other_program(path)) return path;
    }
  }
  const char* const path = std::getenv("PATH");
  return Error{ErrorCode::not_found,
               "no OCI runtime is installed: this root has none of " + all,
               "PATH=" + std::string(path != nullptr ? path : kUsualPath),
               "install runc, or name the program in nvidia-container-runtime.runtimes; another runtime for GPUs "
               "cannot be named there",
               {}};
}

Error become(const std::string& program, char** words) {
  std::string first = program;
  words[0] = first.data();
  ::execv(program.c_str(), words);
  return system_error("start", program, errno);
}

}  // namespace slipway::shim
