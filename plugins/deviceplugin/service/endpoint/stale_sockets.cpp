// SPDX-License-Identifier: Apache-2.0
#include "deviceplugin/service/endpoint/stale_sockets.hpp"

#include <algorithm>
#include <memory>
#include <string_view>

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <slipway/unix_socket.hpp>

namespace slipway::deviceplugin {
namespace {

constexpr std::string_view kPrefix = "nvidia-";
constexpr std::string_view kSuffix = ".sock";
constexpr std::size_t kMostLooked = 1000;  // names in a folder that kubelet and slipway share

struct CloseEntries {
  void operator()(DIR* folder) const { ::closedir(folder); }
};

bool is_ours(std::string_view name) {
  return name.size() > kPrefix.size() + kSuffix.size() && name.starts_with(kPrefix) && name.ends_with(kSuffix);
}

bool is_socket(int folder, const char* name) {
  struct stat status {};
  return ::fstatat(folder, name, &status, AT_SYMLINK_NOFOLLOW) == 0 && S_ISSOCK(status.st_mode);
}

}  // namespace

std::string socket_name(const std::string& resource) {
  return std::string(kPrefix) + resource.substr(resource.find('/') + 1) + std::string(kSuffix);
}

std::vector<std::string> remove_stale_sockets(const RootDir& root, const std::string& registry) {
  std::vector<std::string> removed;
  auto opened = root.open_at(registry, O_RDONLY | O_DIRECTORY);
  if (!opened) return removed;
  const int folder = opened->get();
  const std::unique_ptr<DIR, CloseEntries> entries(::fdopendir(opened->release()));
  if (!entries) return removed;
  std::vector<std::string> names;
  for (std::size_t looked = 0; looked < kMostLooked; ++looked) {
    const dirent* const entry = ::readdir(entries.get());
    if (entry == nullptr) break;
    if (is_ours(entry->d_name) && is_socket(folder, entry->d_name)) names.emplace_back(entry->d_name);
  }
  for (const std::string& name : names) {
    const std::string path = registry + "/" + name;
    const auto connection = connect_to(root, path);
    if (connection || connection.error().code != ErrorCode::unreachable) continue;
    if (::unlinkat(folder, name.c_str(), 0) == 0) removed.push_back(path);
  }
  std::ranges::sort(removed);
  return removed;
}

}  // namespace slipway::deviceplugin
