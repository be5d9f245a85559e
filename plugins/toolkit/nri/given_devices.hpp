// SPDX-License-Identifier: Apache-2.0
// plugins/toolkit/nri/given_devices.hpp - the devices that kubelet has given to a container, from kubelet's pod
// resources API.
#pragma once

#include <string>
#include <vector>

#include <slipway/host.hpp>
#include <slipway/result.hpp>

#include "nvidia/kubelet/pod_resources.hpp"

namespace slipway::nri {

/// A container under kubelet's names.
struct ContainerName {
  std::string pod_namespace;
  std::string pod;
  std::string container;
};

/// Returns the UUIDs of the GPUs and MIG devices that kubelet has given to the container, each once: of resources
/// nvidia.com/…, without replica numbers. kubelet does not list init containers other than sidecars. Takes at most a
/// second, because an engine waits two seconds for a plugin. Errors: kubelet does not listen at the socket, does not
/// answer, or sends an invalid answer; where: the socket.
Result<std::vector<std::string>> ask_kubelet(const Host& host, const std::string& socket, const ContainerName& name);

/// Reads the same from kubelet's answer. Errors: `corrupt` the answer is invalid.
std::vector<std::string> uuids_in(const std::vector<nvidia::kubelet::ListedPod>& pods, const ContainerName& name);

}  // namespace slipway::nri
