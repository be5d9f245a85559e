// SPDX-License-Identifier: Apache-2.0
#include "deviceplugin/service/file_id.hpp"

#include <sys/stat.h>

namespace slipway::deviceplugin {

std::optional<FileId> file_id(const std::string& path) {
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0) return std::nullopt;
  constexpr std::int64_t kNano = 1'000'000'000;
  return FileId{status.st_dev, status.st_ino, status.st_ctim.tv_sec * kNano + status.st_ctim.tv_nsec};
}

}  // namespace slipway::deviceplugin
