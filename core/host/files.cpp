// SPDX-License-Identifier: Apache-2.0
#include "core/host/files.hpp"

#include <algorithm>
#include <cerrno>
#include <climits>
#include <memory>
#include <string>
#include <vector>

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/write/tree.hpp"

namespace slipway::core {

Status copy_all(int from, int to, std::string_view name) {
  constexpr std::size_t kChunkBytes = 1 << 18;
  std::vector<char> buffer(kChunkBytes);
  bool hole = false;
  for (;;) {
    const ssize_t got = ::read(from, buffer.data(), buffer.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return system_error("read", name, errno);
    if (got == 0) break;
    const std::string_view part(buffer.data(), static_cast<std::size_t>(got));
    hole = part.find_first_not_of('\0') == std::string_view::npos && ::lseek(to, got, SEEK_CUR) >= 0;
    if (!hole) SLIPWAY_CHECK(base::write_all(to, part, name));
  }
  if (hole && ::ftruncate(to, ::lseek(to, 0, SEEK_CUR)) != 0) return system_error("write", name, errno);
  return {};
}

Result<std::vector<std::string>> folder_names(int folder, std::string_view path, std::size_t most_names) {
  const int own = ::openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);  // with its own position
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
    if (names.size() > most_names)
      return Error{ErrorCode::invalid,
                   std::string(path) + " has more than " + std::to_string(most_names) + " entries",
                   std::string(path),
                   "find out who made these entries, and remove those that are not needed",
                   {}};
  }
  if (errno != 0) return system_error("list", path, errno);
  std::sort(names.begin(), names.end());
  return names;
}

Result<std::string> read_link_name(int folder, const std::string& name, const std::string& path) {
  std::string target(PATH_MAX, '\0');
  const ssize_t size = ::readlinkat(folder, name.c_str(), target.data(), target.size());
  // EINVAL: not a link; ENOENT: nothing is there
  if (size < 0 && errno != EINVAL && errno != ENOENT) return system_error("read the link", path, errno);
  target.resize(size < 0 ? 0 : static_cast<std::size_t>(size));
  return target;
}

Result<std::string> read_link_at(const RootDir& root, const std::string& path) {
  const auto place = root.parent_of(path);
  if (!place) return place.error().code == ErrorCode::not_found ? Result<std::string>(std::string()) : place.error();
  return read_link_name(place->first.get(), place->second, path);
}

Result<std::map<std::string, std::string>> links_below(const RootDir& root, const std::string& folder) {
  std::map<std::string, std::string> links;
  auto top = root.open_at(folder, O_RDONLY | O_DIRECTORY);
  if (!top) return top.error();
  SLIPWAY_CHECK(base::walk_tree(top->get(), folder, {.enter = [&](const base::TreeEntry& entry) -> Result<bool> {
                                  if (!S_ISLNK(entry.info.st_mode)) return true;
                                  SLIPWAY_TRY(target, read_link_name(entry.folder, entry.name, entry.path));
                                  links[entry.path] = target;
                                  return false;
                                }}));
  return links;
}

int unlink_name(int folder, const std::string& name, int flags) {
  if (::unlinkat(folder, name.c_str(), flags) == 0) return 0;
  if (errno != EROFS) return -1;
  struct stat info {};
  if (::fstatat(folder, name.c_str(), &info, AT_SYMLINK_NOFOLLOW) == 0) errno = EROFS;
  return -1;
}

}  // namespace slipway::core
