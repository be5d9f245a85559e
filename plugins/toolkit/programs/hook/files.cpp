// SPDX-License-Identifier: Apache-2.0
#include "files.hpp"

namespace slipway::hook {
Status write_file(const RootDir& root, const std::string& path, const std::string& content, mode_t mode) {
  SLIPWAY_TRY(place, root.parent_of(path));
  return exchange_file(place.first.get(), unique_name("." + place.second + kNewSuffix), place.second, path,
                       NewFile::ours(mode), [&](int fd) { return write_all(fd, content, path); });
}

std::string path_of(int fd) { return "/proc/self/fd/" + std::to_string(fd); }

}  // namespace slipway::hook
