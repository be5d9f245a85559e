// SPDX-License-Identifier: Apache-2.0
// plugins/toolkit/nri/given_devices.hpp - the GPUs that kubelet has given to a container, by kubelet's own word (its
// pod resources API).
#pragma once

#include <string>
#include <vector>

#include <slipway/host.hpp>
#include <slipway/result.hpp>

#include "nvidia/kubelet/pod_resources.hpp"

namespace slipway::nri {

/// A container, as kubelet names it.
struct ContainerName {
  std::string pod_namespace;
  std::string pod;
  std::string container;
};

/// The UUIDs of the GPUs and MIG devices that kubelet has given to the container, each once: of resources nvidia.com/…,
/// without the number of a replica. Init containers are not among those that kubelet tells of, unless they are
/// sidecars. Takes a second at most, since an engine waits two for a plugin. Errors: kubelet does not listen at the
/// socket, does not answer, or says what is no answer; where: the socket.
Result<std::vector<std::string>> ask_kubelet(const Host& host, const std::string& socket, const ContainerName& name);

/// The same, out of the pods that kubelet lists.
std::vector<std::string> uuids_in(const std::vector<nvidia::kubelet::ListedPod>& pods, const ContainerName& name);

}  // namespace slipway::nri
