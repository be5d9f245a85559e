// SPDX-License-Identifier: Apache-2.0
#include "core/host/read_link.hpp"

#include <cerrno>
#include <climits>

#include <fcntl.h>
#include <unistd.h>

#include "core/host/folder_names.hpp"

namespace slipway::core {
namespace {

Status collect(int folder, const std::string& path, std::map<std::string, std::string>& links) {
  SLIPWAY_TRY(names, folder_names(folder, path));
  for (const std::string& name : names) {
    const std::string below = path.empty() ? name : path + "/" + name;
    SLIPWAY_TRY(target, read_link_name(folder, name, below));
    if (!target.empty()) {
      links[below] = target;
      continue;
    }
    const Fd inner(::openat(folder, name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    if (inner) SLIPWAY_CHECK(collect(inner.get(), below, links));
  }
  return {};
}

}  // namespace

Result<std::string> read_link_name(int folder, const std::string& name, const std::string& path) {
  std::string target(PATH_MAX, '\0');
  const ssize_t size = ::readlinkat(folder, name.c_str(), target.data(), target.size());
  // EINVAL: no link; ENOENT: nothing
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
  SLIPWAY_CHECK(collect(top->get(), "", links));
  return links;
}

}  // namespace slipway::core
