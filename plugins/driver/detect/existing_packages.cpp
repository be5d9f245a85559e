// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <map>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <slipway/text.hpp>

#include "driver/detect/existing_driver.hpp"
#include "nvidia/driver_version.hpp"

namespace slipway::driver {
namespace {

constexpr std::array<std::string_view, 17> kNames{"cuda-drivers",
                                                  "libcuda1",
                                                  "libnvidia-cfg1",
                                                  "libnvidia-ml1",
                                                  "nvidia-alternative",
                                                  "nvidia-driver",
                                                  "nvidia-driver-bin",
                                                  "nvidia-driver-cuda",
                                                  "nvidia-driver-libs",
                                                  "nvidia-kernel-dkms",
                                                  "nvidia-kernel-open-dkms",
                                                  "nvidia-kernel-support",
                                                  "nvidia-open",
                                                  "nvidia-open-kernel-dkms",
                                                  "nvidia-open-kernel-support",
                                                  "nvidia-smi",
                                                  "xserver-xorg-video-nvidia"};

// Prefixes before a branch: nvidia-dkms-535-server-open, libnvidia-compute-580.
constexpr std::array<std::string_view, 12> kFamilies{
    "cuda-drivers-",         "libnvidia-compute-",    "linux-modules-nvidia-", "linux-objects-nvidia-",
    "nvidia-compute-utils-", "nvidia-dkms-",          "nvidia-driver-",        "nvidia-headless-",
    "nvidia-kernel-common-", "nvidia-kernel-source-", "nvidia-legacy-",        "nvidia-tesla-"};

std::string_view field(std::string_view paragraph, std::string_view name) {
  for (const std::string_view line : lines_of<std::string_view>(paragraph))
    if (line.starts_with(name) && line.substr(name.size()).starts_with(':'))
      return trimmed(line.substr(name.size() + 1));
  return {};
}

// "1:535.261.03-1~deb12u1" -> "535.261.03"
std::string upstream_version(std::string_view version) {
  if (const auto epoch = version.find(':'); epoch != std::string_view::npos) version.remove_prefix(epoch + 1);
  const auto upstream = version.substr(0, version.find_first_of("-~+"));
  return nvidia::DriverVersion::parse(upstream) ? std::string{upstream} : std::string{};
}

bool brings_modules(std::string_view name) {
  return name.find("dkms") != std::string_view::npos || name.starts_with("linux-modules-nvidia-");
}

}  // namespace

bool is_driver_package(std::string_view name) {
  if (std::ranges::find(kNames, name) != kNames.end()) return true;
  for (const auto family : kFamilies) {
    if (!name.starts_with(family) || name.size() == family.size()) continue;
    // Followed by a branch or a word before one ("tesla-535"); nvidia-driver-assistant does not match.
    if (name.find_first_of("0123456789", family.size()) != std::string_view::npos) return true;
  }
  return false;
}

std::vector<InstalledPackage> installed_packages(std::string_view dpkg_status, bool (*wanted)(std::string_view name)) {
  std::vector<InstalledPackage> packages;
  while (!dpkg_status.empty()) {
    const auto end = dpkg_status.find("\n\n");
    const auto paragraph = dpkg_status.substr(0, end);
    dpkg_status.remove_prefix(end == std::string_view::npos ? dpkg_status.size() : end + 2);
    const std::string name{field(paragraph, "Package")};
    if (wanted(name) && field(paragraph, "Status").ends_with(" installed"))
      packages.push_back({name, upstream_version(field(paragraph, "Version"))});
  }
  return packages;
}

std::vector<ExistingDriver> driver_packages_in(std::string_view dpkg_status) {
  std::map<std::string, std::vector<std::string>> by_version;
  std::vector<std::string> all;
  std::string flavour;
  for (const auto& [name, version] : installed_packages(dpkg_status, &is_driver_package)) {
    by_version[version].push_back(name);
    all.push_back(name);
    if (brings_modules(name)) flavour = name.find("open") != std::string::npos ? "open" : "proprietary";
  }
  std::vector<ExistingDriver> traces;
  const std::string remove = fmt::format("`apt-get purge {}`", fmt::join(all, " "));
  for (const auto& [version, names] : by_version)
    traces.push_back({"packages", fmt::format("{} (dpkg)", fmt::join(names, ", ")), version, flavour, remove});
  return traces;
}

}  // namespace slipway::driver
