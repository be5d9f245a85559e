// SPDX-License-Identifier: Apache-2.0
#include "nvidia/machine/gpu_bus.hpp"

#include <algorithm>
#include <cstdlib>

#include "nvidia/gpu.hpp"
#include "nvidia/gpus/gpu_table.hpp"

namespace slipway::nvidia {
namespace {

constexpr const char* kFunctions = "/sys/bus/pci/devices";
constexpr const char* kLoadedVersion = "/proc/driver/nvidia/version";

/// A function without a driver may be a lost GPU, or one that the loaded driver does not support.
bool is_supported(const GpuTable& table, const PciDevice& device, unsigned branch, bool open) {
  const ArchitectureSupport support = table.of_pci(device).support;
  if (branch == 0) return true;
  if (support.last_branch != 0 && support.last_branch < branch) return false;
  const unsigned first = open ? support.first_open_branch : support.first_branch;
  return first <= branch && (!open || first != 0 || support.first_branch == 0);
}

}  // namespace

void GpuBus::look(const Host& host, const std::vector<AnsweringGpu>& answering, const std::string& driver_version) {
  std::vector<std::string> seen = host.list(kFunctions).value_or({});
  for (const AnsweringGpu& gpu : answering) seen.push_back(gpu.address);
  seen.push_back(driver_version);
  if (seen == seen_) return;
  seen_ = std::move(seen);
  gpus_.clear();
  const auto branch = static_cast<unsigned>(std::strtoul(driver_version.c_str(), nullptr, 10));
  const bool open = host.read(kLoadedVersion).value_or("").find("Open Kernel Module") != std::string::npos;
  const GpuTable table = GpuTable::of(host).value_or(GpuTable::built_in());
  for (const PciDevice& device : gpus_of_the_driver(host)) {
    const bool bound = !device.driver.empty();
    if (bound || is_supported(table, device, branch, open))
      gpus_.push_back({.address = device.address, .device = device.device, .bound = bound});
  }
  const auto is_there = [this](const AnsweringGpu& gpu) { return place_of(gpu.address).has_value(); };
  if (!std::ranges::all_of(answering, is_there)) gpus_.clear();
}

std::optional<unsigned> GpuBus::place_of(const std::string& address) const {
  const std::string wanted = pci_place(address);
  for (std::size_t place = 0; place < gpus_.size(); ++place)
    if (pci_place(gpus_[place].address) == wanted) return static_cast<unsigned>(place);
  return std::nullopt;
}

std::vector<AbsentGpu> GpuBus::absent(const std::vector<AnsweringGpu>& answering) const {
  std::vector<std::string> products(gpus_.size());
  std::vector<bool> answers(gpus_.size(), false);
  for (const AnsweringGpu& gpu : answering)
    if (const auto place = place_of(gpu.address)) {
      products[*place] = gpu.product;
      answers[*place] = true;
    }
  std::vector<AbsentGpu> found;
  for (std::size_t place = 0; place < gpus_.size(); ++place) {
    if (answers[place]) continue;
    AbsentGpu& missing = found.emplace_back(
        AbsentGpu{.number = static_cast<unsigned>(place), .address = gpus_[place].address, .product = {}});
    for (std::size_t other = 0; other < gpus_.size() && missing.product.empty(); ++other)
      if (gpus_[other].device == gpus_[place].device) missing.product = products[other];
  }
  return found;
}

}  // namespace slipway::nvidia
