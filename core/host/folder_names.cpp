// SPDX-License-Identifier: Apache-2.0
#include "core/host/folder_names.hpp"

#include <algorithm>
#include <cerrno>
#include <memory>

#include <dirent.h>
#include <fcntl.h>
#include <unistd.h>

namespace slipway::core {

Result<std::vector<std::string>> folder_names(int folder, std::string_view path) {
  const int own = ::openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);  // a position of its own
  if (own < 0) return system_error("open", path, errno);
  const std::unique_ptr<DIR, int (*)(DIR*)> stream(::fdopendir(own), &::closedir);
  if (!stream) {
    const int number = errno;
    ::close(own);
    return system_error("list", path, number);
  }
  std::vector<std::string> names;
  for (;;) {
    errno = 0;
    const dirent* entry = ::readdir(stream.get());
    if (entry == nullptr) break;
    if (std::string name = entry->d_name; name != "." && name != "..") names.push_back(std::move(name));
  }
  if (errno != 0) return system_error("list", path, errno);
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace slipway::core
