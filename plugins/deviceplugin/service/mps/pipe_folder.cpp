// SPDX-License-Identifier: Apache-2.0
#include "deviceplugin/service/mps/pipe_folder.hpp"

#include <cerrno>
#include <cstdio>

#include <sys/stat.h>
#include <unistd.h>

#include "deviceplugin/service/mps/emptying.hpp"

namespace slipway::deviceplugin {
namespace {

// Each takes a pod that has the folder which came after the last one, and stays no longer than that pod.
constexpr int kMostAside = 64;

/// A pod may have given it away, or closed it: the service has no power over files but its own.
bool opens_to_owner(const Fd& folder) {
  struct stat info {};
  if (!folder || ::fstat(folder.get(), &info) != 0 || info.st_uid != ::geteuid()) return false;
  return (info.st_mode & S_IRWXU) == S_IRWXU || ::fchmod(folder.get(), (info.st_mode & 07777U) | S_IRWXU) == 0;
}

}  // namespace

Status renew_pipe_folder(const std::string& path, std::size_t most) {
  const Fd folder = open_folder(path);
  if (opens_to_owner(folder) && empty_folder(folder, most) == Emptied::all) return {};
  for (int i = 0; i < kMostAside; ++i) {
    if (::rename(path.c_str(), (path + kAside + std::to_string(i)).c_str()) == 0 || errno == ENOENT) return {};
    if (errno != EEXIST && errno != ENOTEMPTY) break;
  }
  Error error = system_error("move aside", path, errno);
  error.next = "end the pods that write there: what they left is removed then, and MPS goes on";
  return error;
}

}  // namespace slipway::deviceplugin
