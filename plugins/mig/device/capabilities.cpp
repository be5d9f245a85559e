// SPDX-License-Identifier: Apache-2.0
#include "mig/device/capabilities.hpp"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <optional>

#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include <slipway/text.hpp>

namespace slipway::mig {
namespace {

constexpr const char* kCapabilities = "/proc/driver/nvidia/capabilities";
constexpr const char* kNodes = "/dev/nvidia-caps";
constexpr const char* kMajorName = "nvidia-caps";

/// Returns the number after a key in a capability's file.
std::optional<unsigned> number_of(const std::string& text, std::string_view key) {
  for (const std::string_view line : lines_of<std::string_view>(text)) {
    if (!line.starts_with(key)) continue;
    const std::string_view number = trimmed(line.substr(key.size()));
    unsigned value = 0;
    const auto [end, problem] = std::from_chars(number.data(), number.data() + number.size(), value);
    if (problem == std::errc{} && end == number.data() + number.size()) return value;
  }
  return std::nullopt;
}

std::vector<std::string> names_with(const Host& host, const std::string& folder, std::string_view prefix) {
  std::vector<std::string> names = host.list(folder).value_or(std::vector<std::string>{});
  std::erase_if(names, [&](const std::string& name) { return !name.starts_with(prefix); });
  return names;
}

/// Returns the files of all GPU instances and compute instances.
std::vector<std::string> capability_files(const Host& host) {
  std::vector<std::string> files;
  const std::string top = kCapabilities;
  for (const std::string& gpu : names_with(host, top, "gpu")) {
    const std::string mig = top + "/" + gpu + "/mig";
    for (const std::string& instance : names_with(host, mig, "gi")) {
      files.push_back(mig + "/" + instance + "/access");
      for (const std::string& compute : names_with(host, mig + "/" + instance, "ci"))
        files.push_back(mig + "/" + instance + "/" + compute + "/access");
    }
  }
  return files;
}

Status make_node(const Capability& capability, unsigned major) {
  if (::mknod(capability.node.c_str(), S_IFCHR | capability.mode, ::makedev(major, capability.minor)) != 0) {
    if (errno == EEXIST) return {};  // another program has created it
    return system_error("make", capability.node, errno);
  }
  // Sets the mode independent of the umask.
  if (::chmod(capability.node.c_str(), capability.mode) != 0)
    return system_error("set the mode of", capability.node, errno);
  return {};
}

}  // namespace

std::vector<Capability> missing_capabilities(const Host& host) {
  std::vector<Capability> missing;
  for (const std::string& file : capability_files(host)) {
    const auto text = host.read(file);
    if (!text) continue;
    const auto minor = number_of(*text, "DeviceFileMinor:");
    if (!minor) continue;
    Capability capability{.file = file,
                          .node = fmt::format("{}/nvidia-cap{}", kNodes, *minor),
                          .minor = *minor,
                          .mode = number_of(*text, "DeviceFileMode:").value_or(0444) & 0777U,
                          .may_be_made = number_of(*text, "DeviceFileModify:").value_or(1) != 0};
    if (!host.exists(capability.node)) missing.push_back(std::move(capability));
  }
  return missing;
}

Status make_capability_nodes(const Host& host) {
  if (!host.live()) return {};
  std::vector<Capability> missing = missing_capabilities(host);
  std::erase_if(missing, [](const Capability& each) { return !each.may_be_made; });
  if (missing.empty()) return {};
  const auto major = host.character_major(kMajorName);
  if (!major)
    return Error{.code = ErrorCode::not_found,
                 .what = "the device nodes of MIG instances cannot be made: /proc/devices has no nvidia-caps",
                 .where = kNodes,
                 .next = "look for NVRM lines in `dmesg`: the driver has not registered its capabilities"};
  if (::mkdir(kNodes, 0755) != 0 && errno != EEXIST) return system_error("make", kNodes, errno);
  for (const Capability& each : missing) SLIPWAY_CHECK(make_node(each, *major));
  return {};
}

}  // namespace slipway::mig
