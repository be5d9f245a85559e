// SPDX-License-Identifier: Apache-2.0
#include "deviceplugin/kubelet_version.hpp"

#include <algorithm>
#include <charconv>
#include <iterator>

#include <slipway/root_dir.hpp>
#include <slipway/text.hpp>
#include <slipway/trusted_owner.hpp>

#include "nvidia/machine/dpkg.hpp"

namespace slipway::deviceplugin {
namespace {

constexpr std::chrono::seconds kVersionLimit{10};
constexpr std::size_t kLongestConfig = 1U << 20U;
constexpr const char* kFeatureGate = "DevicePluginCDIDevices";
constexpr unsigned kFirst = 28;    // 1.28 introduced the gate
constexpr unsigned kDefault = 29;  // 1.29 enabled it by default

/// kubelet, or a program that contains it, with the arguments that print the version.
struct Program {
  const char* path;
  const char* word = "--version";
};
constexpr Program kPrograms[] = {
    {"/usr/bin/kubelet"},       {"/usr/local/bin/kubelet"}, {"/opt/bin/kubelet"},
    {"/usr/local/bin/k3s"},     {"/usr/bin/k3s"},           {"/usr/local/bin/rke2"},
    {"/opt/rke2/bin/rke2"},     {"/usr/bin/rke2"},          {"/usr/local/bin/k0s", "version"},
    {"/usr/bin/k0s", "version"}};

/// kubelet is run as root, even by `plan`, so only root may be able to write the program.
bool is_safe(const Host& host, const char* path) {
  const auto root = RootDir::open(host.root_folder());
  return root && check_only_ours(*root, path).ok();
}

const Program* find_kubelet(const Host& host) {
  const auto* const found = std::ranges::find_if(
      kPrograms, [&](const Program& program) { return host.exists(program.path) && is_safe(host, program.path); });
  return found == std::end(kPrograms) ? nullptr : found;
}

/// Reads the list of an image, or of a simulated machine below its own root; below "/" the list belongs to this
/// machine.
std::string dpkg_list(const Host& host) {
  return host.borrows_root() ? std::string() : host.read(nvidia::kDpkgList, nvidia::kLongestDpkgList).value_or("");
}

/// Reads the feature gate in kubelet's configuration file.
bool has_gate(const Host& host, const std::string& kubelet_root) {
  const std::string config = host.read(kubelet_root + "/config.yaml", kLongestConfig).value_or("");
  const std::size_t at = config.find(kFeatureGate);
  if (at == std::string::npos) return false;
  const std::string line = config.substr(at, config.find_first_of("\n,}", at) - at);
  return line.find("true") != std::string::npos;
}

}  // namespace

KubeletVersion parse_kubelet_version(std::string_view text) {
  for (const std::string& word : split(text, ' ')) {
    std::string_view number = trimmed(word);
    if (number.starts_with('v')) number.remove_prefix(1);
    KubeletVersion version;
    const char* const end = number.data() + number.size();
    const auto major = std::from_chars(number.data(), end, version.major);
    if (major.ec != std::errc{} || major.ptr == end || *major.ptr != '.') continue;
    if (std::from_chars(major.ptr + 1, end, version.minor).ec != std::errc{} || version.major == 0) continue;
    version.text = trimmed(word);
    return version;
  }
  return {};
}

std::string kubelet_program_state(const Host& host) {
  if (!host.live()) return std::to_string(host.info(nvidia::kDpkgList).value_or({}).size_bytes);
  const Program* const program = find_kubelet(host);
  if (program == nullptr) return {};
  const auto real = host.resolve(program->path);
  return real ? *real + " " + std::to_string(host.info(*real).value_or({}).size_bytes) : std::string();
}

KubeletVersion read_kubelet_version(const Host& host) {
  if (!host.live()) return parse_kubelet_version(nvidia::package_version(dpkg_list(host), "kubelet"));
  const Program* const program = find_kubelet(host);
  if (program == nullptr) return {};
  const auto output = host.run({program->path, program->word}, kVersionLimit);
  return output && output->exit_status == 0 ? parse_kubelet_version(output->output) : KubeletVersion();
}

std::string why_no_cdi_devices(const KubeletVersion& version, const Host& host, const std::string& kubelet_root) {
  if (!version.known() || version.major > 1 || version.minor >= kDefault) return {};
  if (version.minor < kFirst) return "kubelet " + version.text + " does not support CDI devices (1.28 and newer do)";
  if (has_gate(host, kubelet_root)) return {};
  return "kubelet " + version.text + " has its feature gate " + kFeatureGate + " off, as it is before 1.29 unless " +
         kubelet_root + "/config.yaml sets it";
}

}  // namespace slipway::deviceplugin
