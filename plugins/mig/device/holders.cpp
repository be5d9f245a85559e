// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "mig/device/read.hpp"
#include "nvidia/nvml/system.hpp"

namespace slipway::mig {
namespace {

namespace nvml = nvidia::nvml;

const InstanceHandle* by_id(const std::vector<InstanceHandle>& instances, unsigned id) {
  const auto found = std::ranges::find(instances, id, &InstanceHandle::id);
  return found == instances.end() ? nullptr : &*found;
}

/// The change takes away what the process works on.
bool is_in_the_way(const nvml::Process& process, const InstanceHandle& instance, const Difference& change) {
  for (const Difference::Part& part : change.destroyed) {
    if (part.instance.start != instance.instance.start) continue;
    if (part.whole || !process.compute_instance) return true;
    for (const InstanceHandle::Part& compute : instance.compute)
      if (compute.id == *process.compute_instance) return std::ranges::count(part.compute, compute.compute) != 0;
  }
  return false;
}

}  // namespace

std::vector<std::string> holders(nvml::Nvml& nvml, nvmlDevice_t device, const Gpu& gpu,
                                 const std::vector<InstanceHandle>& instances, const Difference& change,
                                 bool mode_changes) {
  std::set<unsigned> seen;
  std::vector<std::string> texts;
  for (const nvml::ProcessKind kind : {nvml::ProcessKind::compute, nvml::ProcessKind::graphics, nvml::ProcessKind::mps})
    for (const nvml::Process& process : nvml::processes(nvml, device, kind).value_or({})) {
      const InstanceHandle* const instance = process.gpu_instance ? by_id(instances, *process.gpu_instance) : nullptr;
      const bool counts = mode_changes || (instance != nullptr && is_in_the_way(process, *instance, change));
      if (!counts || !seen.insert(process.pid).second) continue;
      const std::string name = nvml::process_name(nvml, process.pid).value_or("a process");
      texts.push_back(fmt::format("{} (pid {}) on {}", name, process.pid,
                                  instance == nullptr ? gpu.text() : to_text(gpu, instance->instance)));
    }
  return texts;
}

}  // namespace slipway::mig
