// SPDX-License-Identifier: Apache-2.0
#include "core/host/unlink.hpp"

#include <cerrno>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace slipway::core {

int unlink_name(int folder, const std::string& name, int flags) {
  if (::unlinkat(folder, name.c_str(), flags) == 0) return 0;
  if (errno != EROFS) return -1;
  struct stat info {};
  if (::fstatat(folder, name.c_str(), &info, AT_SYMLINK_NOFOLLOW) == 0) errno = EROFS;
  return -1;
}

}  // namespace slipway::core
