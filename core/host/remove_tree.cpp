// SPDX-License-Identifier: Apache-2.0
// core/host/remove_tree.cpp - removes a folder and all below it, never through a link nor into another mount.
#include <cerrno>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/host/files.hpp"
#include "core/host/root_fs.hpp"

namespace slipway::core {
namespace {

Status empty_folder(const Fd& folder, const std::string& path);

Status remove_entry(const Fd& folder, const std::string& name, const std::string& path) {
  if (unlink_name(folder.get(), name, 0) == 0 || errno == ENOENT) return {};
  if (errno != EISDIR && errno != EPERM) return system_error("remove", path, errno);
  const Fd below(::openat(folder.get(), name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (!below) return system_error("remove", path, errno);
  struct stat here {};
  struct stat existing {};
  if (::fstat(folder.get(), &here) == 0 && ::fstat(below.get(), &existing) == 0 && here.st_dev != existing.st_dev)
    return system_error("remove", path, EBUSY);
  SLIPWAY_CHECK(empty_folder(below, path));
  if (unlink_name(folder.get(), name, AT_REMOVEDIR) == 0 || errno == ENOENT) return {};
  return system_error("remove", path, errno);
}

Status empty_folder(const Fd& folder, const std::string& path) {
  SLIPWAY_TRY(names, folder_names(folder.get(), path));
  for (const std::string& name : names) SLIPWAY_CHECK(remove_entry(folder, name, path + "/" + name));
  return {};
}

}  // namespace

Status RootFs::remove_tree(std::string_view path) {
  auto place = root_.parent_of(path);
  if (!place) return place.error().code == ErrorCode::not_found ? Status{} : Status(place.error());
  const auto above = folders_above(path);
  changed(place->first.get(), above.empty() ? "/" : above.back());
  return remove_entry(place->first, place->second, std::string(path));
}

}  // namespace slipway::core
