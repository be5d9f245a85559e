// SPDX-License-Identifier: Apache-2.0
#include "nvidia/machine/causes.hpp"

#include <algorithm>
#include <regex>

#include "nvidia/gpu.hpp"

namespace slipway::nvidia {

constexpr std::size_t kMaxSearchedBytes = 1024;  // std::regex is slow and recursive on long texts

std::string gpu_cause(std::string_view address) {
  return address.empty() ? std::string() : "gpu/" + pci_place(address) + ".0";
}

std::string lost_gpu_cause(std::string_view address) {
  return address.empty() ? std::string() : gpu_cause(address) + "/lost";
}

std::string silent_gpu_cause(const Host& host, const std::vector<std::string>& answering) {
  for (const PciDevice& each : gpus_of_the_driver(host)) {
    const auto is_it = [&](const std::string& address) { return pci_place(address) == pci_place(each.address); };
    if (std::ranges::none_of(answering, is_it)) return lost_gpu_cause(each.address);
  }
  return {};
}

std::string gpu_address_in(std::string_view text) {
  static const std::regex kAddress("[0-9a-fA-F]{4,8}:[0-9a-fA-F]{2}:[0-9a-fA-F]{2}\\.[0-7]");
  const std::string head(text.substr(0, kMaxSearchedBytes));
  std::smatch found;
  return std::regex_search(head, found, kAddress) ? found.str() : std::string();
}

std::string nvml_cause(std::string_view text) {
  for (const std::string_view answer : {"NVML_ERROR_DRIVER_NOT_LOADED", "NVML_ERROR_LIB_RM_VERSION_MISMATCH"})
    if (text.find(answer) != std::string_view::npos) return kDriverCause;
  return {};
}

std::string mismatch_text(std::string_view library, std::string_view module_version) {
  constexpr std::string_view kName = "libnvidia-ml.so.";
  const std::size_t name = library.rfind(kName);
  const std::string_view version = name == std::string_view::npos ? "" : library.substr(name + kName.size());
  const bool is_known = version.find('.') != std::string_view::npos;  // else it is the "1" in the library's own name
  std::string text;
  if (is_known) text = ": the library is of driver " + std::string(version);
  if (!module_version.empty())
    text += std::string(is_known ? ", the loaded module of " : ": the loaded module is of driver ") +
            std::string(module_version);
  return text;
}

Findings with_cause(const Findings& findings, std::string_view name, const std::string& cause) {
  Findings all;
  for (Finding finding : findings.list()) {
    const bool is_wrong = finding.status == Finding::Status::fail || finding.status == Finding::Status::warning;
    if (is_wrong && finding.name == name && finding.cause.empty()) finding.cause = cause;
    all.add(std::move(finding));
  }
  return all;
}

}  // namespace slipway::nvidia
