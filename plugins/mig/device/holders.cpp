// SPDX-License-Identifier: Apache-2.0
#include "mig/device/holders.hpp"

#include <algorithm>

#include "mig/device/read.hpp"
#include "mig/layout/target.hpp"

namespace slipway::mig {
namespace {

namespace drain = nvidia::drain;
namespace nvml = nvidia::nvml;

const Difference::Part* part_of(const Difference& change, const GpuInstance& instance) {
  const auto found = std::ranges::find_if(
      change.destroyed, [&](const Difference::Part& part) { return part.instance.start == instance.start; });
  return found == change.destroyed.end() ? nullptr : &*found;
}

/// Adds the instance, or only its removed parts if others stay.
void add_parts(const Gpu& gpu, const InstanceHandle& instance, const Difference& change,
               std::vector<drain::Part>& parts) {
  drain::Part whole{.gpu_instance = instance.id, .compute_instance = {}, .text = to_text(gpu, instance.instance)};
  const Difference::Part* const part = part_of(change, instance.instance);
  whole.affected = part != nullptr;
  if (part == nullptr || part->whole) return parts.push_back(std::move(whole));
  for (const InstanceHandle::Part& compute : instance.compute) {
    whole.compute_instance = compute.id;
    whole.affected = std::ranges::count(part->compute, compute.compute) != 0;
    parts.push_back(whole);
  }
}

drain::Affected affected_of(nvml::Nvml& nvml, const Changing& changing) {
  const auto& [device, gpu, target, with_daemons] = changing;
  const Difference change =
      difference(gpu->enabled ? gpu->instances : Instances(), target->enabled ? target->instances : Instances());
  drain::Affected affected{.device = device,
                           .text = gpu->text(),
                           .whole = target->enabled != gpu->enabled,
                           .instances_change = gpu->enabled && target->enabled,
                           .parts = {},
                           .with_daemons = with_daemons};
  if (!gpu->enabled || (!affected.whole && change.destroyed.empty())) return affected;
  const auto instances = read_instances(nvml, device, gpu->profiles, gpu->text());
  if (instances)
    for (const InstanceHandle& each : *instances) add_parts(*gpu, each, change, affected.parts);
  return affected;
}

}  // namespace

drain::PodHolders ask_kubelet(const Host& host, const std::string& socket) {
  if (socket.empty() || host.booting()) return {};
  nvidia::kubelet::Allocations found = nvidia::kubelet::AllocationReader(host, socket).read();
  drain::PodHolders given{.holders = nvidia::kubelet::gpu_pods_of(found.all)};
  if (found.incomplete.empty()) return given;
  const std::string next = "look at kubelet (`systemctl status kubelet`), remove " + socket +
                           " and the folder device-plugins if kubelet is no longer installed, or turn this query off "
                           "(`kubelet_socket: \"\"` in the spec's mig, --kubelet-socket= of the tools)";
  given.problem = found.incomplete + " (" + socket + ")";
  given.next = next;
  return given;
}

std::vector<std::vector<drain::DeviceHolder>> find_holders(nvml::Nvml& nvml, const Host& host,
                                                           const std::vector<Changing>& changing,
                                                           const drain::PodHolders& given) {
  std::vector<drain::Affected> affected(changing.size());
  nvml::in_parallel(nvml, changing.size(),
                    [&](nvml::Nvml& own, std::size_t i) { affected[i] = affected_of(own, changing[i]); });
  return drain::find_holders(nvml, host, affected, given);
}

std::string in_use_text(const Gpu& gpu) {
  return gpu.text() + " is in use, so its layout was left as it was (" + to_text(layout_of(gpu)) + ")";
}

}  // namespace slipway::mig
