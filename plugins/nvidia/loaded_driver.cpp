// SPDX-License-Identifier: Apache-2.0
#include "nvidia/loaded_driver.hpp"

#include <algorithm>

#include "nvidia/gpu.hpp"
#include "nvidia/proc_files.hpp"

namespace slipway::nvidia {

std::optional<LoadedDriver> read_loaded_driver(const Host& host) {
  if (!host.module_loaded("nvidia")) return std::nullopt;
  LoadedDriver driver;
  for (const auto name : kModules)
    if (host.module_loaded(name)) driver.modules.emplace_back(name);
  driver.version = host.attribute("/sys/module/nvidia/version");
  if (const auto proc = parse_proc_version(host.attribute("/proc/driver/nvidia/version"))) {
    driver.version = proc->version;
    driver.flavour = proc->flavour;
  }
  return driver;
}

bool would_load_driver_for_nothing(const Host& host) {
  constexpr std::size_t kListLimit = 16U << 20;
  if (host.module_loaded("nvidia") || count_gpus(host) != 0) return false;
  const std::string release = host.attribute("/proc/sys/kernel/osrelease");
  const auto modules = host.read("/lib/modules/" + release + "/modules.dep", kListLimit);
  return modules && modules->find("/nvidia.ko") != std::string::npos;
}

std::vector<std::string> exclusives_of_gpus(const Host& host) {
  constexpr std::string_view kFolder = "/proc/driver/nvidia/gpus";
  std::vector<std::string> names;
  const auto addresses = host.list(kFolder).value_or(std::vector<std::string>{});
  for (const auto& address : addresses) {
    const std::string uuid = parse_gpu_uuid(host.attribute(std::string{kFolder} + "/" + address + "/information"));
    if (uuid.starts_with("GPU-") && uuid.find("?") == std::string::npos) names.push_back(exclusive_of(uuid));
  }
  std::ranges::sort(names);
  return names;
}

std::vector<unsigned> read_gpu_minors(const Host& host) {
  constexpr std::string_view kFolder = "/proc/driver/nvidia/gpus";
  std::vector<unsigned> minors;
  const auto addresses = host.list(kFolder);
  if (!addresses) return minors;
  for (const auto& address : *addresses) {
    const std::string file = std::string{kFolder} + "/" + address + "/information";
    if (const auto minor = parse_gpu_minor(host.attribute(file))) minors.push_back(*minor);
  }
  std::ranges::sort(minors);
  return minors;
}

}  // namespace slipway::nvidia
