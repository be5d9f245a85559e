// SPDX-License-Identifier: Apache-2.0
#include "core/engine/verify/expectation.hpp"

#include <algorithm>

#include <slipway/text.hpp>

#include "core/engine/devices.hpp"

namespace slipway::core {
namespace {

using CheckStatus = Finding::Status;

constexpr const char* kName = "slipway.expect";
constexpr std::size_t kMostNamed = 16;

std::string gpus_text(std::size_t count) { return std::to_string(count) + (count == 1 ? " GPU" : " GPUs"); }

std::string are(std::size_t count) { return count == 1 ? " is " : " are "; }

std::vector<std::string> missing_of(const std::vector<PciDevice>& gpus, const ExpectedGpus& expected) {
  std::vector<std::string> missing = expected.addresses;
  std::erase_if(missing, [&](const std::string& address) {
    return std::ranges::any_of(gpus, [&](const PciDevice& gpu) { return gpu.address == address; });
  });
  return missing;
}

/// "0000:18:00.0 is 10de:20b2" of each GPU of another product.
std::vector<std::string> others_of(const std::vector<PciDevice>& gpus, const ExpectedGpus& expected) {
  std::vector<std::string> others;
  for (const PciDevice& gpu : gpus)
    if (!expected.product.empty() && pci_id(gpu) != expected.product)
      others.push_back(gpu.address + " is " + pci_id(gpu));
  return others;
}

}  // namespace

std::optional<Finding> check_expectation(const Session& session, const ExpectedGpus& expected) {
  if (expected.count == 0) return std::nullopt;
  if (!session.host().has_kernel_view())
    return Finding{CheckStatus::not_exercised,
                   kName,
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
  if (!missing.empty()) problems.push_back(first_few(missing, kMostNamed) + are(missing.size()) + "missing");
  if (!others.empty()) problems.push_back(first_few(others, kMostNamed) + ", and the spec expects " + expected.product);
  if (gpus.size() < expected.count || !missing.empty())
    return Finding{CheckStatus::fail, kName, joined(problems, "; "),
                   "check the power and the seating of the missing board, and the kernel's log (`dmesg`) for its "
                   "address; correct `expect` in the spec if this host is to have other GPUs"};
  if (!others.empty())
    return Finding{CheckStatus::fail, kName, joined(problems, "; "),
                   "put the expected board in, or correct `expect` in the spec"};
  if (gpus.size() > expected.count)
    return Finding{CheckStatus::warning, kName, count, "correct `expect` in the spec if this host is to have them"};
  return Finding{
      CheckStatus::pass, kName, gpus_text(gpus.size()) + are(gpus.size()) + "on the PCI bus, as the spec expects", {}};
}

}  // namespace slipway::core
