// SPDX-License-Identifier: Apache-2.0
#include "driver/detect/existing_driver.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <slipway/text.hpp>

#include "driver/package/package.hpp"
#include "nvidia/driver_version.hpp"

namespace slipway::driver {
namespace {

constexpr std::size_t kStatusLimit = 64U << 20;

std::vector<std::string> names_in(const Host& host, const std::string& folder) {
  return host.list(folder).value_or(std::vector<std::string>{});
}

// Finds DKMS trees of the driver itself; nvidia-fs belongs to another component.
std::vector<ExistingDriver> find_dkms(const Host& host) {
  std::vector<ExistingDriver> traces;
  for (const auto& name : names_in(host, "/var/lib/dkms")) {
    if (!name.starts_with("nvidia") || name.starts_with("nvidia-fs") || name.starts_with("nvidia-peermem")) continue;
    for (const auto& version : names_in(host, "/var/lib/dkms/" + name)) {
      if (!nvidia::DriverVersion::parse(version)) continue;
      traces.push_back({"DKMS", fmt::format("/var/lib/dkms/{}/{}", name, version), version,
                        name.find("open") != std::string::npos ? "open" : "",
                        fmt::format("`dkms remove {}/{} --all`", name, version)});
    }
  }
  return traces;
}

// NVIDIA's .run installer keeps the list of its files in /var/lib/nvidia/log; the first line is the version.
std::vector<ExistingDriver> find_installer(const Host& host) {
  const auto log = host.read("/var/lib/nvidia/log");
  const bool uninstaller = host.exists("/usr/bin/nvidia-uninstall");
  if (!log && !uninstaller) return {};
  std::string version;
  if (log) version = log->substr(0, log->find('\n'));
  if (!nvidia::DriverVersion::parse(version)) version.clear();
  return {{"installer", "NVIDIA's installer (.run)", version, "", "`/usr/bin/nvidia-uninstall`"}};
}

std::vector<ExistingDriver> find_modules(const Host& host, const std::string& release) {
  const auto dep = host.read(fmt::format("/lib/modules/{}/modules.dep", release), kStatusLimit);
  if (!dep) return {};
  const auto modules = driver_modules_in(*dep);
  if (modules.empty()) return {};
  const std::string first = fmt::format("/lib/modules/{}/{}", release, modules.front());
  return {{"modules", fmt::format("{} in /lib/modules/{}", fmt::join(modules, ", "), release), "",
           first.find("open") != std::string::npos ? "open" : "",
           fmt::format("remove the package that owns {0} (`dpkg -S {0}` or `rpm -qf {0}` names it)", first)}};
}

std::vector<ExistingDriver> find_libraries(const Host& host) {
  for (const auto* folder :
       {"/usr/lib/x86_64-linux-gnu", "/usr/lib/x86_64-linux-gnu/nvidia/current", "/usr/lib/aarch64-linux-gnu",
        "/usr/lib/aarch64-linux-gnu/nvidia/current", "/usr/lib64", "/usr/lib64/nvidia", "/usr/lib"})
    for (const auto& name : names_in(host, folder)) {
      if (!name.starts_with("libnvidia-ml.so.") && !name.starts_with("libcuda.so.")) continue;
      const std::string path = fmt::format("{}/{}", folder, name);
      const auto target = host.resolve(path);
      if (!target || is_ours(*target)) continue;
      return {
          {"libraries", path, library_version(target->substr(target->rfind('/') + 1)), "",
           fmt::format("remove the package that owns {0} (`dpkg -S {0}` or `rpm -qf {0}` names it), or {0} alone where "
                       "none does",
                       path)}};
    }
  return {};
}

}  // namespace

std::string library_version(std::string_view file_name) {
  const auto so = file_name.find(".so.");
  if (so == std::string_view::npos) return {};
  const auto version = file_name.substr(so + 4);
  return nvidia::DriverVersion::parse(version) ? std::string{version} : std::string{};
}

std::vector<std::string> driver_modules_in(std::string_view modules_dep) {
  std::vector<std::string> modules;
  for (const std::string_view line : lines_of<std::string_view>(modules_dep)) {
    const auto path = line.substr(0, line.find(':'));
    if (path.size() == line.size() || path.starts_with("updates/slipway/")) continue;
    auto name = path.substr(path.rfind('/') + 1);
    name = name.substr(0, name.find(".ko"));
    // nvidia.ko, also under the names that Debian gives it; nvidiafb and nvidia-wmi-ec-backlight belong to the kernel.
    if (name == "nvidia" || name.starts_with("nvidia-current") || name.starts_with("nvidia-tesla") ||
        name.starts_with("nvidia-legacy"))
      modules.emplace_back(path);
  }
  std::ranges::sort(modules);
  return modules;
}

std::vector<ExistingDriver> find_existing_drivers(const Host& host, const std::vector<std::string>& kernel_releases) {
  std::vector<ExistingDriver> traces;
  if (const auto status = host.read("/var/lib/dpkg/status", kStatusLimit)) traces = driver_packages_in(*status);
  const auto add = [&](std::vector<ExistingDriver> more) { traces.insert(traces.end(), more.begin(), more.end()); };
  add(find_dkms(host));
  add(find_installer(host));
  for (const auto& release : kernel_releases) add(find_modules(host, release));
  add(find_libraries(host));
  return traces;
}

}  // namespace slipway::driver
