// SPDX-License-Identifier: Apache-2.0
// plugins/toolkit/nri/adjust.hpp - which devices a container asks for, and what it gets for that, by the host's CDI
// specs.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <slipway/json.hpp>
#include <slipway/result.hpp>

#include "slipway/nri/nri.pb.h"
#include "toolkit/nri/given_devices.hpp"
#include "toolkit/requests/config.hpp"
#include "toolkit/requests/devices.hpp"

namespace slipway::nri {

/// The host, as a container's devices are found on it.
struct Devices {
  shim::Config config;
  std::string root;              ///< in front of /proc and /sys; empty: this machine's
  std::optional<Error> problem;  ///< the settings cannot be read: refuses who asks for devices, and nobody else
  shim::ReadNode read_node;
  /// The UUIDs of what kubelet has given to a container; nothing else of an unprivileged container counts without a
  /// rule.
  std::function<Result<std::vector<std::string>>(const ContainerName& name)> ask_kubelet;
};

using Log = std::function<void(const char* level, const std::string& text)>;

/// The settings of slipway-runtime, and the specs and nodes, of the machine whose root that folder is. Whoever calls it
/// adds who is asked in kubelet's place.
Devices devices_below(const std::string& root);

/// What slipway-runtime would do to the container's bundle; empty where it asks for nothing, or has it all already by
/// the engine's own CDI support. Tells the log what was given, and what NRI has no place for.
/// Errors: those of read_config(), read_request(), Specs::resolve(), check_requirements() and apply_edits();
/// `unsupported` the specs name network devices.
Result<wire::ContainerAdjustment> adjust(const wire::CreateContainerRequest& request, const Devices& devices,
                                         const Log& log);

/// The parts of an OCI configuration that a request and the edits of CDI specs are about. Annotations of the pod count
/// where the container has none of that name. NRI does not tell a container's capabilities: one that may write to sysfs
/// is privileged (Kubernetes mounts it read-only for others), and stands here with CAP_SYS_ADMIN.
Json bundle_of(const wire::PodSandbox& pod, const wire::Container& container);

/// Variables, mounts, device nodes and hooks that `after` has and `before` has not.
wire::ContainerAdjustment difference(const Json& before, const Json& after);

}  // namespace slipway::nri
