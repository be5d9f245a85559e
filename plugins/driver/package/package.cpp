// SPDX-License-Identifier: Apache-2.0
#include "driver/package/package.hpp"

#include <algorithm>
#include <set>
#include <tuple>

#include <fmt/format.h>
#include <fnmatch.h>

#include "base/kernels/kernels.hpp"
#include "driver/package/annotations.hpp"
#include "nvidia/driver_version.hpp"

namespace slipway::driver {
namespace {

Error broken(const CatalogueEntry& entry, std::string_view why) {
  const std::string name = entry.tag.empty() ? entry.digest : entry.tag;
  return {ErrorCode::corrupt, fmt::format("the driver package {} {}", name, why), {}, {}, {}};
}

// {"6.1.0-56-amd64": "first error"} or ["6.1.0-5[3-9]-*"]; anything else is ignored.
std::map<std::string, std::string> read_fails(const std::string& text) {
  std::map<std::string, std::string> fails;
  const Json value = Json::parse(text, nullptr, false);
  if (value.is_object())
    for (const auto& [kernel, error] : value.items()) fails[kernel] = error.is_string() ? error.get<std::string>() : "";
  if (value.is_array())
    for (const Json& kernel : value)
      if (kernel.is_string()) fails[kernel.get<std::string>()] = "";
  return fails;
}

std::string missing_layer(const Package& package) {
  if (package.userspace.is_null()) return role::kUserspace;
  if (package.is_source() && package.source.is_null()) return role::kSource;
  if (!package.is_source() && package.modules.is_null()) return role::kModules;
  return {};
}

auto order(const Package& package) {
  return std::tuple{base::kernel_key(package.kernel_release), package.flavour, package.tag, package.digest};
}

}  // namespace

std::optional<std::string> Package::known_failure(const std::string& kernel) const {
  if (const auto exact = fails.find(kernel); exact != fails.end()) return exact->second;
  for (const auto& [pattern, error] : fails)
    if (fnmatch(pattern.c_str(), kernel.c_str(), 0) == 0) return error;
  return std::nullopt;
}

Result<Package> package_from(const CatalogueEntry& entry) {
  Package package;
  package.digest = entry.digest;
  package.tag = entry.tag;
  package.version = entry.annotation(annotation::kVersion);
  if (!nvidia::DriverVersion::parse(package.version))
    return broken(entry, fmt::format("has no driver version in its annotation {}", annotation::kVersion));
  const auto flavour = nvidia::parse_flavour(entry.annotation(annotation::kFlavour));
  if (!flavour) return broken(entry, fmt::format("is neither open nor proprietary ({})", annotation::kFlavour));
  package.flavour = *flavour;
  package.default_flavour = nvidia::parse_flavour(entry.annotation(annotation::kDefaultFlavour));
  package.kernel_release = entry.annotation(annotation::kKernel);
  package.os = entry.annotation(annotation::kOs);
  package.arch = entry.annotation(annotation::kArch);
  package.signer = entry.annotation(annotation::kSigner);
  if (const std::string list = entry.annotation(annotation::kGpus); !list.empty()) {
    auto gpus = supported_gpus_from_json(Json::parse(list, nullptr, false));
    if (!gpus) return broken(entry, fmt::format("has a broken list of supported devices ({})", annotation::kGpus));
    package.gpus = std::move(*gpus);
  }
  package.fails = read_fails(entry.annotation(annotation::kFails));
  package.userspace = entry.layer(role::kUserspace);
  package.firmware = entry.layer(role::kFirmware);
  package.modules = entry.layer(role::kModules);
  package.source = entry.layer(role::kSource);
  if (const auto layer = missing_layer(package); !layer.empty())
    return broken(entry, fmt::format("has no {} layer", layer));
  return package;
}

std::vector<Package> packages_of(const Catalogue& catalogue, std::vector<std::string>& problems) {
  std::vector<Package> packages;
  std::set<std::string> seen;
  for (const auto& entry : catalogue.entries) {
    if (entry.artifact_type != kArtifactType || !seen.insert(entry.digest).second) continue;
    auto package = package_from(entry);
    if (package)
      packages.push_back(std::move(*package));
    else
      problems.push_back(package.error().what);
  }
  std::ranges::sort(packages, [](const Package& a, const Package& b) {
    if (a.version != b.version) return nvidia::version_less(a.version, b.version);
    return order(a) < order(b);
  });
  return packages;
}

}  // namespace slipway::driver
