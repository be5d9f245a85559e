// SPDX-License-Identifier: Apache-2.0
#include "nvidia/kubelet/pod_folder.hpp"

#include <algorithm>

namespace slipway::nvidia::kubelet {

std::optional<PodFolder> parse_pod_folder(std::string_view folder) {
  const auto first = folder.find('_');
  const auto last = folder.rfind('_');
  if (first == std::string_view::npos || first == 0 || last <= first + 1 || last + 1 == folder.size())
    return std::nullopt;
  const std::string_view name = folder.substr(first + 1, last - first - 1);
  if (name.find('_') != std::string_view::npos) return std::nullopt;
  return PodFolder{std::string(folder.substr(0, first)), std::string(name), std::string(folder.substr(last + 1))};
}

std::vector<PodFolder> pod_folders(const Host& host) {
  std::vector<PodFolder> folders;
  for (const std::string& name : host.list("/var/log/pods").value_or({}))
    if (auto folder = parse_pod_folder(name)) folders.push_back(*std::move(folder));
  return folders;
}

const PodFolder* find_pod(const std::vector<PodFolder>& folders, std::string_view uid) {
  const auto found = std::ranges::find(folders, uid, &PodFolder::uid);
  return found == folders.end() ? nullptr : &*found;
}

}  // namespace slipway::nvidia::kubelet
