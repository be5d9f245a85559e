// SPDX-License-Identifier: Apache-2.0
#include "core/engine/devices.hpp"

#include <algorithm>
#include <cstdio>
#include <set>

#include <fnmatch.h>

#include <slipway/text.hpp>

namespace slipway::core {
namespace {

constexpr std::uint32_t kDisplayController = 0x03;

std::set<std::string> service_devices_of(const Session& session) {
  std::set<std::string> globs;
  for (const auto& [component, path] : session.plugins().component_to_path)
    if (const Manifest* const manifest = session.plugins().manifest(component); !manifest->service_device.empty())
      globs.insert(manifest->service_device);
  return globs;
}

std::string device_folder(const PciDevice& device) { return "/sys/bus/pci/devices/" + device.address; }

using CheckStatus = Finding::Status;

constexpr const char* kExpectFinding = "slipway.expect";
constexpr std::size_t kMostGpusNamed = 16;

std::string gpus_text(std::size_t count) { return std::to_string(count) + (count == 1 ? " GPU" : " GPUs"); }

std::string are(std::size_t count) { return count == 1 ? " is " : " are "; }

std::vector<std::string> missing_of(const std::vector<PciDevice>& gpus, const ExpectedGpus& expected) {
  std::vector<std::string> missing = expected.addresses;
  std::erase_if(missing, [&](const std::string& address) {
    return std::ranges::any_of(gpus, [&](const PciDevice& gpu) { return gpu.address == address; });
  });
  return missing;
}

/// Returns "0000:18:00.0 is 10de:20b2" for each GPU of another product.
std::vector<std::string> others_of(const std::vector<PciDevice>& gpus, const ExpectedGpus& expected) {
  std::vector<std::string> others;
  for (const PciDevice& gpu : gpus)
    if (!expected.product.empty() && pci_id(gpu) != expected.product)
      others.push_back(gpu.address + " is " + pci_id(gpu));
  return others;
}

}  // namespace

std::vector<PciDevice> plugin_devices(const Session& session) {
  const Host& host = session.host();
  const auto globs = service_devices_of(session);
  if (!host.has_kernel_view() || globs.empty()) return {};
  std::vector<PciDevice> devices = host.pci_devices({});
  std::erase_if(devices, [&](const PciDevice& device) {
    const std::string alias = host.attribute(device_folder(device) + "/modalias");
    return std::ranges::none_of(globs,
                                [&](const auto& glob) { return ::fnmatch(glob.c_str(), alias.c_str(), 0) == 0; });
  });
  return devices;
}

std::vector<PciDevice> gpus_on_bus(const Session& session) {
  std::vector<PciDevice> gpus = plugin_devices(session);
  std::erase_if(gpus, [&](const PciDevice& device) {
    return device.device_class >> 16U != kDisplayController || session.host().exists(device_folder(device) + "/physfn");
  });
  return gpus;
}

std::string pci_id(const PciDevice& device) {
  char text[10];
  std::snprintf(text, sizeof text, "%04x:%04x", static_cast<unsigned>(device.vendor),
                static_cast<unsigned>(device.device));
  return text;
}

std::set<std::string> silent_gpus(const std::map<std::string, Findings>& findings) {
  constexpr std::string_view kBegin = "gpu/";
  constexpr std::string_view kEnd = "/lost";
  std::set<std::string> addresses;
  for (const auto& [component, list] : findings)
    for (const Finding& finding : list.list()) {
      const bool is_wrong = finding.status == CheckStatus::fail || finding.status == CheckStatus::warning;
      const std::string& cause = finding.cause;
      const std::size_t end = cause.find('/', kBegin.size());
      if (is_wrong && cause.starts_with(kBegin) && end != std::string::npos && cause.substr(end).starts_with(kEnd))
        addresses.insert(cause.substr(kBegin.size(), end - kBegin.size()));
    }
  return addresses;
}

std::optional<Finding> check_expectation(const Session& session, const ExpectedGpus& expected,
                                         const std::set<std::string>& silent) {
  if (expected.count == 0) return std::nullopt;
  if (!session.host().has_kernel_view())
    return Finding{CheckStatus::not_exercised,
                   kExpectFinding,
                   "the spec expects " + gpus_text(expected.count) + ", which are counted from the first boot on",
                   {}};
  const std::vector<PciDevice> gpus = gpus_on_bus(session);
  const std::vector<std::string> missing = missing_of(gpus, expected);
  const std::vector<std::string> others = others_of(gpus, expected);
  const std::string count = (gpus.empty() ? "no GPU" : gpus_text(gpus.size())) +
                            are(std::max<std::size_t>(gpus.size(), 1)) + "on the PCI bus, and the spec expects " +
                            std::to_string(expected.count);
  std::vector<std::string> problems;
  if (gpus.size() < expected.count) problems.push_back(count);
  if (!missing.empty()) problems.push_back(first_few(missing, kMostGpusNamed) + are(missing.size()) + "missing");
  if (!others.empty())
    problems.push_back(first_few(others, kMostGpusNamed) + ", and the spec expects " + expected.product);
  if (gpus.size() < expected.count || !missing.empty())
    return Finding{CheckStatus::fail, kExpectFinding, joined(problems, "; "),
                   "check the power and the seating of the missing board, and the kernel's log (`dmesg`) for its "
                   "address; correct `expect` in the spec if this host is to have other GPUs",
                   missing.size() == 1 ? "gpu/" + missing.front() : ""};
  if (!others.empty())
    return Finding{CheckStatus::fail, kExpectFinding, joined(problems, "; "),
                   "put the expected board in, or correct `expect` in the spec"};
  std::vector<std::string> mute;
  for (const PciDevice& gpu : gpus)
    if (silent.contains(gpu.address)) mute.push_back(gpu.address);
  if (gpus.size() - mute.size() < expected.count)
    return Finding{CheckStatus::fail, kExpectFinding,
                   std::to_string(gpus.size() - mute.size()) + " of the " + gpus_text(gpus.size()) +
                       " on the PCI bus answer, and the spec expects " + std::to_string(expected.count) + "; " +
                       first_few(mute, kMostGpusNamed) + (mute.size() == 1 ? " does not" : " do not"),
                   "see the other findings about " + std::string(mute.size() == 1 ? "this GPU" : "these GPUs"),
                   mute.size() == 1 ? "gpu/" + mute.front() + "/lost" : ""};
  if (gpus.size() > expected.count)
    return Finding{CheckStatus::warning, kExpectFinding, count,
                   "correct `expect` in the spec if this host is to have these GPUs"};
  return Finding{CheckStatus::pass,
                 kExpectFinding,
                 gpus_text(gpus.size()) + are(gpus.size()) + "on the PCI bus, as the spec expects",
                 {}};
}

}  // namespace slipway::core
