// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "nvidia/library_folders.hpp"
#include "toolkit/cdi/component/machine.hpp"

namespace slipway::toolkit {
namespace {

constexpr const char* kAuto = "auto";

/// Links in a driver's root may be absolute inside it, so they are not followed here.
bool has_driver(const Host& host, const std::string& root) {
  return std::ranges::any_of(nvidia::kLibraryFolders, [&](std::string_view folder) {
    return host.info(root + nvidia::in_folder(folder, "libcuda.so.1")).ok();
  });
}

}  // namespace

DriverRoots find_driver_roots(const Host& host, const std::string& driver, const std::string& dev) {
  const std::string container(nvidia::kContainerDriverRoot);
  DriverRoots roots{driver, dev};
  if (driver == kAuto) roots.driver = !has_driver(host, "") && has_driver(host, container) ? container : "/";
  if (dev == kAuto) roots.dev = host.info(roots.driver + "/dev/nvidiactl") ? roots.driver : "/";
  return roots;
}

}  // namespace slipway::toolkit
