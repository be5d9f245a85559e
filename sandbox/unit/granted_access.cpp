// SPDX-License-Identifier: Apache-2.0
#include "sandbox/unit/granted_access.hpp"

#include <cerrno>

#include <unistd.h>

#include <slipway/regular_file.hpp>

#include "base/write/new_file.hpp"
#include "sandbox/unit/device_rules.hpp"

namespace slipway::sandbox {
namespace {

constexpr const char* kDeviceList = "/proc/devices";
constexpr std::size_t kLargestMark = 4096;

/// Returns the errno that prevents writing there; 0 when writing works.
int writing_fails(const std::string& folder) { return ::access(folder.c_str(), W_OK) == 0 ? 0 : errno; }

}  // namespace

GrantedAccess::GrantedAccess(std::vector<std::string> device_classes, const std::vector<std::string>& folders,
                             RootDir root, std::string mark)
    : device_classes_(std::move(device_classes)),
      root_(std::move(root)),
      mark_(std::move(mark)),
      numbers_(device_numbers(device_classes_, kDeviceList)) {
  for (const std::string& folder : folders) folders_[folder] = writing_fails(folder);
}

std::string GrantedAccess::lost() {
  const std::string folder = lost_folder();
  return folder.empty() ? lost_device() : folder;
}

std::string GrantedAccess::lost_folder() const {
  for (const auto& [folder, at_start] : folders_) {
    const int now = writing_fails(folder);
    if (now == at_start) continue;
    if (now == ENOENT) return folder + " is gone; the service restarts so that the folder is created again";
    if (now == EROFS) return folder + " was replaced; the service restarts so that it may write to the new folder";
  }
  return {};
}

std::string GrantedAccess::lost_device() {
  if (device_classes_.empty()) return {};
  if (device_numbers(device_classes_, kDeviceList) != numbers_)
    return "the kernel has renumbered its devices; restarting, so that the service may open them";
  const std::string node = closed_node(numbers_, "/dev");
  if (node.empty()) return {};
  const auto before = read_regular(root_, mark_, kLargestMark);
  if (before && *before == numbers_) return {};  // a restart did not help: the administrator wants it closed
  if (!base::replace_file(root_, mark_, numbers_)) return {};
  return node + " got its device number after the service had started; restarting, so that the service may open it";
}

}  // namespace slipway::sandbox
