// SPDX-License-Identifier: Apache-2.0
#include "gfd/labels/labels.hpp"

#include <algorithm>

#include <fmt/format.h>

#include <slipway/text.hpp>

namespace slipway::gfd {
namespace {

const std::string kPrefix = "nvidia.com/";

std::string bool_label(bool value) { return value ? "true" : "false"; }

/// Splits "550.90.07" into its two or three fields.
Result<std::vector<std::string>> version_fields(const std::string& version) {
  auto fields = split(version, '.');
  if (fields.size() == 2) fields.emplace_back();
  if (fields.size() == 3) return fields;
  return Error{.code = ErrorCode::io,
               .what = "the driver's version '" + version + "' does not have the form X.Y or X.Y.Z"};
}

Status add_versions(const Snapshot& snapshot, Labels& labels) {
  SLIPWAY_TRY(driver, version_fields(snapshot.driver_version));
  // The first three of each group are deprecated, but many selectors still use them.
  labels[kPrefix + "cuda.driver.major"] = labels[kPrefix + "cuda.driver-version.major"] = driver[0];
  labels[kPrefix + "cuda.driver.minor"] = labels[kPrefix + "cuda.driver-version.minor"] = driver[1];
  labels[kPrefix + "cuda.driver.rev"] = labels[kPrefix + "cuda.driver-version.revision"] = driver[2];
  labels[kPrefix + "cuda.driver-version.full"] = snapshot.driver_version;
  const std::string major = std::to_string(snapshot.cuda_major);
  const std::string minor = std::to_string(snapshot.cuda_minor);
  labels[kPrefix + "cuda.runtime.major"] = labels[kPrefix + "cuda.runtime-version.major"] = major;
  labels[kPrefix + "cuda.runtime.minor"] = labels[kPrefix + "cuda.runtime-version.minor"] = minor;
  labels[kPrefix + "cuda.runtime-version.full"] = fmt::format("{}.{}", major, minor);
  return {};
}

std::string mode_of(const std::vector<Gpu>& gpus) {
  constexpr std::uint32_t kVga = 0x030000;
  constexpr std::uint32_t kCompute = 0x030200;
  const auto all = [&gpus](std::uint32_t wanted) {
    return std::ranges::all_of(gpus, [wanted](const Gpu& gpu) { return gpu.device_class == wanted; });
  };
  if (all(kVga)) return "graphics";
  return all(kCompute) ? "compute" : "unknown";
}

/// Returns the clique of all GPUs in a fabric; empty when they differ.
std::string clique_of(const std::vector<Gpu>& gpus) {
  std::string clique;
  for (const Gpu& gpu : gpus) {
    if (gpu.clique.empty()) continue;
    if (!clique.empty() && clique != gpu.clique) return {};
    clique = gpu.clique;
  }
  return clique;
}

bool any_mig(const std::vector<Gpu>& gpus) {
  return std::ranges::any_of(gpus, [](const Gpu& gpu) { return gpu.mig_enabled; });
}

bool any_capable(const std::vector<Gpu>& gpus) {
  return std::ranges::any_of(gpus, [](const Gpu& gpu) { return gpu.mig_capable; });
}

Status add_gpu_labels(const Sources& sources, const Config& config, Labels& labels) {
  const std::vector<Gpu>& gpus = sources.snapshot.gpus;
  const bool mps = config.sharing.kind == nvidia::config::SharingKind::mps;
  if (mps && any_mig(gpus))
    return Error{.code = ErrorCode::invalid,
                 .what = "MPS sharing is not possible on GPUs in MIG mode",
                 .where = "sharing.mps",
                 .next = "switch MIG off, or share by time-slicing"};
  labels[kPrefix + "gpu.machine"] = fitted(sanitised(sources.machine_type), "");
  SLIPWAY_CHECK(add_versions(sources.snapshot, labels));
  labels[kPrefix + "mig.capable"] = bool_label(any_capable(gpus));
  labels[kPrefix + "mps.capable"] = bool_label(mps);
  add_resource_labels(sources.snapshot, config, labels);
  labels[kPrefix + "gpu.mode"] = mode_of(gpus);
  if (const std::string clique = clique_of(gpus); !clique.empty()) labels[kPrefix + "gpu.clique"] = clique;
  return {};
}

}  // namespace

Result<Labels> make_labels(const Sources& sources, const Config& config) {
  Labels labels;
  if (config.timestamp) labels[kPrefix + "gfd.timestamp"] = std::to_string(sources.timestamp);
  if (!sources.snapshot.gpus.empty()) SLIPWAY_CHECK(add_gpu_labels(sources, config, labels));
  if (sources.vgpu_known) labels[kPrefix + "vgpu.present"] = bool_label(sources.vgpu.has_value());
  if (sources.vgpu) {
    labels[kPrefix + "vgpu.host-driver-version"] = sources.vgpu->driver_version;
    labels[kPrefix + "vgpu.host-driver-branch"] = sources.vgpu->driver_branch;
  }
  if (config.operator_labels) labels.merge(operator_labels(sources));
  if (config.pci_labels) labels.merge(pci_labels(sources));
  return labels;
}

Labels pci_labels(const Sources& sources) {
  if (!sources.gpu_on_bus && sources.snapshot.gpus.empty()) return {};
  return {{"feature.node.kubernetes.io/pci-10de.present", "true"}};
}

Labels operator_labels(const Sources& sources) {
  Labels labels;
  if (!sources.gpu_on_bus && sources.snapshot.gpus.empty()) return labels;
  labels[kPrefix + "gpu.present"] = "true";
  // The operator's labels for nodes that run containers.
  for (const char* component : {"driver", "gpu-feature-discovery", "container-toolkit", "device-plugin", "dcgm",
                                "dcgm-exporter", "node-status-exporter", "operator-validator", "client"})
    labels[kPrefix + "gpu.deploy." + component] = "true";
  if (any_capable(sources.snapshot.gpus) && !sources.vgpu) labels[kPrefix + "gpu.deploy.mig-manager"] = "true";
  return labels;
}

}  // namespace slipway::gfd
