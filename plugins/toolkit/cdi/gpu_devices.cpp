// SPDX-License-Identifier: Apache-2.0
// plugins/toolkit/cdi/gpu_devices.cpp - the devices of the kind gpu: full GPUs, and MIG devices where MIG is enabled.
#include <algorithm>

#include <slipway/text.hpp>

#include "toolkit/cdi/generate.hpp"
#include "toolkit/cdi/nodes.hpp"

namespace slipway::toolkit {
namespace {

using nvidia::cdi::Edits;
using nvidia::cdi::Spec;

std::string gpu_name(const GpuDevice& gpu, Naming naming) {
  if (naming == Naming::uuid) return gpu.uuid;
  return (naming == Naming::type_index ? "gpu" : "") + std::to_string(gpu.index);
}

std::string mig_name(const GpuDevice& gpu, const MigDevice& device, Naming naming) {
  if (naming == Naming::uuid) return device.uuid;
  return (naming == Naming::type_index ? "mig" : "") + std::to_string(gpu.index) + ":" + std::to_string(device.index);
}

std::string listed_names(const std::vector<LostGpu>& gpus) {
  std::vector<std::string> names;
  for (const LostGpu& gpu : gpus) names.push_back(gpu.name());
  return joined(names);
}

/// Adds devices to a spec, limited to the requested ids.
class GpuWriter {
 public:
  GpuWriter(const GenerateOptions& options, const Roots& roots, Spec& spec)
      : options_(options),
        roots_(roots),
        spec_(spec),
        nodes_(roots, options.additional_gids),
        hooks_(options.hooks),
        wanted_(options.device_ids.begin(), options.device_ids.end()),
        unknown_(wanted_) {
    unknown_.erase("all");
  }

  Status add(const GpuDevice& gpu) {
    if (gpu.mig_enabled) {
      for (const MigDevice& device : gpu.mig_devices) SLIPWAY_CHECK(add(gpu, device));
      return {};
    }
    if (!wants({gpu_name(gpu, Naming::index), gpu.uuid})) return {};
    Edits edits;
    SLIPWAY_CHECK(nodes_.add("/dev/nvidia" + std::to_string(gpu.minor), name_of(gpu), edits));
    SLIPWAY_CHECK(add_drm(gpu, edits));
    nvidia::cdi::Annotations annotations;
    if (options_.coherent) annotations[kCoherentAnnotation] = gpu.coherent ? "true" : "false";
    for (const Naming naming : options_.names) spec_.devices.push_back({gpu_name(gpu, naming), annotations, edits});
    return {};
  }

  /// @param lost  GPUs that exist but cannot be used
  Status check_ids(const std::vector<LostGpu>& lost) const {
    if (unknown_.empty()) return {};
    for (const LostGpu& gpu : lost)
      for (const std::string& id : unknown_)
        if (gpu.index && (id == std::to_string(*gpu.index) || id.starts_with(std::to_string(*gpu.index) + ":")))
          return Error{
              ErrorCode::not_found, gpu.name() + " " + gpu.state() + ": " + gpu.why, "--device-id", gpu.remedy(), {}};
    return Error{ErrorCode::invalid,
                 "no GPU or MIG device is called '" + *unknown_.begin() + "'" +
                     (lost.empty() ? "" : "; these do not answer: ") + listed_names(lost),
                 "--device-id",
                 "`nvidia-smi -L` lists GPUs and MIG devices; a GPU with MIG enabled is used by its MIG devices",
                 {}};
  }

 private:
  bool wants(const std::vector<std::string>& names) {
    bool wanted = wanted_.empty() || wanted_.contains("all");
    for (const std::string& name : names) {
      wanted = wanted || wanted_.contains(name);
      unknown_.erase(name);
    }
    return wanted;
  }

  Status add(const GpuDevice& gpu, const MigDevice& device) {
    if (!wants({mig_name(gpu, device, Naming::index), device.uuid})) return {};
    if (minors_.empty())
      minors_ = parse_mig_minors(roots_.kernel.read("/proc/driver/nvidia-caps/mig-minors").value_or(""));
    const std::string owner = name_of(gpu) + ", MIG device " + std::to_string(device.index);
    Edits edits;
    SLIPWAY_CHECK(nodes_.add("/dev/nvidia" + std::to_string(gpu.minor), owner, edits));
    SLIPWAY_TRY(capabilities, mig_capability_nodes(minors_, gpu, device));
    for (const std::string& path : capabilities) SLIPWAY_CHECK(nodes_.add(path, owner, edits));
    if (device.graphics) SLIPWAY_CHECK(add_drm(gpu, edits));
    for (const Naming naming : options_.names) spec_.devices.push_back({mig_name(gpu, device, naming), {}, edits});
    return {};
  }

  Status add_drm(const GpuDevice& gpu, Edits& edits) const {
    const DrmNodes drm = find_drm_nodes(roots_, gpu.pci_address);
    for (const std::string& path : drm.paths) SLIPWAY_CHECK(nodes_.add(path, name_of(gpu), edits));
    hooks_.create_symlinks(drm.links, edits);
    if (!drm.paths.empty()) hooks_.add("chmod", {"--mode", "755", "--path", "/dev/dri"}, edits);
    return {};
  }

  const GenerateOptions& options_;
  const Roots& roots_;
  Spec& spec_;
  NodeWriter nodes_;
  HookWriter hooks_;
  std::set<std::string> wanted_;
  std::set<std::string> unknown_;
  std::map<std::string, unsigned> minors_;
};

Error nothing_there(const Inventory& inventory) {
  if (inventory.gpus.empty() && !inventory.lost.empty()) {
    const LostGpu& first = inventory.lost.front();
    const std::size_t count = inventory.lost.size();
    return Error{ErrorCode::not_found,
                 count == 1 ? first.name() + " " + first.state() + ", and the machine has no other GPU: " + first.why
                            : "none of the " + std::to_string(count) + " GPUs answers, beginning with " + first.name() +
                                  ": " + first.why,
                 "nvidia.com/gpu",
                 first.remedy(),
                 {}};
  }
  const bool mig = std::ranges::any_of(inventory.gpus, &GpuDevice::mig_enabled);
  return Error{ErrorCode::not_found,
               mig ? "every GPU has MIG enabled, and there is no MIG device yet" : "NVML shows no GPU",
               "nvidia.com/gpu",
               mig ? "make MIG devices: `slipway apply` with the component mig"
                   : "`slipway detect` shows the GPUs and MIG devices",
               {}};
}

}  // namespace

Status add_gpu_devices(const GenerateOptions& options, const Roots& roots, const Inventory& inventory, Spec& spec) {
  GpuWriter writer(options, roots, spec);
  for (const GpuDevice& gpu : inventory.gpus) SLIPWAY_CHECK(writer.add(gpu));
  SLIPWAY_CHECK(writer.check_ids(inventory.lost));
  if (spec.devices.empty()) return nothing_there(inventory);
  return {};
}

}  // namespace slipway::toolkit
