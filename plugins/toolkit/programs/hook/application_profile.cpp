// SPDX-License-Identifier: Apache-2.0
#include <charconv>
#include <cstdint>
#include <cstdio>
#include <memory>

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include "hook.hpp"

namespace slipway::hook {
namespace {

constexpr const char* kFolder = "/etc/nvidia/nvidia-application-profiles-rc.d";
constexpr unsigned kGpus = 64;  // bits of the mask

bool is_gpu_name(std::string_view name) {
  constexpr std::string_view kPrefix = "nvidia";
  return name.starts_with(kPrefix) && name.size() > kPrefix.size() &&
         name.find_first_not_of("0123456789", kPrefix.size()) == std::string_view::npos;
}

/// Returns a mask with one bit for the minor of each GPU's node.
Result<std::uint64_t> visible_gpus(const RootDir& root) {
  std::uint64_t mask = 0;
  auto folder = root.open_at("/dev", O_RDONLY | O_DIRECTORY);
  if (!folder) return folder.error().code == ErrorCode::not_found ? Result<std::uint64_t>(mask) : folder.error();
  const std::unique_ptr<DIR, int (*)(DIR*)> entries(::fdopendir(folder->release()), &::closedir);
  if (!entries) return mask;
  while (const dirent* entry = ::readdir(entries.get())) {  // NOLINT(concurrency-mt-unsafe): one thread
    struct stat info {};
    if (!is_gpu_name(entry->d_name)) continue;
    if (::fstatat(::dirfd(entries.get()), entry->d_name, &info, AT_SYMLINK_NOFOLLOW) != 0) continue;
    if (S_ISCHR(info.st_mode) && minor(info.st_rdev) < kGpus) mask |= std::uint64_t{1} << minor(info.st_rdev);
  }
  return mask;
}

/// Returns an application profile in the driver's format, which allows hexadecimal numbers, unlike JSON.
std::string profile_of(std::uint64_t mask) {
  char digits[17];
  std::snprintf(digits, sizeof(digits), "%llx", static_cast<unsigned long long>(mask));
  return std::string(R"({"profiles": [{"name": "_container_", "settings": ["EGLVisibleDGPUDevices", 0x)") + digits +
         R"(]}], "rules": [{"pattern": [], "profile": "_container_"}]})" + "\n";
}

}  // namespace

Status update_application_profile(const Arguments&, const Container& container) {
  SLIPWAY_TRY(mask, visible_gpus(container.root));
  if (mask == 0) return {};
  SLIPWAY_CHECK(make_own_folders(container.root, kFolder));
  return write_file(container.root, std::string(kFolder) + "/10-container.conf", profile_of(mask), 0444);
}

}  // namespace slipway::hook
