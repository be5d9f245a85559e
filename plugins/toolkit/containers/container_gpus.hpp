// SPDX-License-Identifier: Apache-2.0
// plugins/toolkit/containers/container_gpus.hpp - the GPUs that a container was given, from the OCI configuration that
// its runtime started it with.
//
// The creator of a container writes parts of it. Texts for people are cut, and control characters are replaced.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <slipway/json.hpp>

#include "toolkit/containers/device_rules.hpp"

namespace slipway::toolkit {

struct ContainerNode {
  std::string path;      ///< in the container: "/dev/nvidia0"
  DeviceNumber number;   ///< from the configuration; {0, 0} for a mounted node
  bool mounted = false;  ///< a mount of the host's node rather than a device
  bool allowed = false;  ///< the configuration's rules permit it
};

struct ContainerGpus {
  std::string name;  ///< "pod team-a/train-0, container trainer", "container 0123456789ab"
  std::vector<ContainerNode> nodes;
  bool legacy_hook = false;  ///< NVIDIA's hook adds nodes and rules without the runtime
  std::string request;       ///< the setting that asks for GPUs: "NVIDIA_VISIBLE_DEVICES=GPU-…"; may be empty

  /// True when it explicitly asks for GPUs, unlike an image's default, and has none.
  bool unanswered() const { return nodes.empty() && !legacy_hook; }
};

inline constexpr std::size_t kMostContainerNodes = 512;  ///< per container; further ones are left out

/// Empty: the container has no GPU and asks for none. A privileged container, which has all nodes of the host, counts
/// when it asks for GPUs. @param id  of the container, as its name if it is not in a pod
std::optional<ContainerGpus> gpus_of_container(const Json& config, std::string_view id);

/// True when a path in a container is a node of NVIDIA's driver: "/dev/nvidia0", "/dev/nvidia-caps/nvidia-cap1".
bool is_nvidia_node(std::string_view path);
/// True only for "/dev/nvidia0": the node of a whole GPU.
bool is_gpu_node(std::string_view path);

}  // namespace slipway::toolkit
