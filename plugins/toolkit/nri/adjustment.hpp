// SPDX-License-Identifier: Apache-2.0
// plugins/toolkit/nri/adjustment.hpp - the devices that a container requests, and its changes for them, by the host's
// CDI specs.
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

/// The host view that a container's devices are searched in.
struct Devices {
  shim::Config config;
  std::string root;              ///< prefix of /proc and /sys; empty: this machine's
  std::optional<Error> problem;  ///< the settings cannot be read: only containers that ask for devices are refused
  shim::ReadNode read_node;
  /// Returns the UUIDs of the devices that kubelet has given to a container; without a rule an unprivileged container
  /// gets only these.
  std::function<Result<std::vector<std::string>>(const ContainerName& name)> ask_kubelet;
};

using Log = std::function<void(const char* level, const std::string& text)>;

/// Reads the settings of slipway-runtime, the specs and the nodes of the machine with that root. The caller adds the
/// function that asks kubelet.
Devices devices_below(const std::string& root);

/// Returns the changes that slipway-runtime would make to the container's bundle; empty if it asks for no devices, or
/// has them already through the engine's own CDI support. Logs the devices, and edits that NRI does not support.
/// Errors: those of read_config(), read_request(), Specs::resolve(), check_requirements() and apply_edits();
/// `unsupported` the specs have network devices.
Result<wire::ContainerAdjustment> adjust(const wire::CreateContainerRequest& request, const Devices& devices,
                                         const Log& log);

/// Returns the parts of an OCI configuration that requests and CDI edits use. An annotation of the pod applies if the
/// container has none of that name. NRI does not report a container's capabilities: one that may write to sysfs is
/// privileged (Kubernetes mounts it read-only for others), and gets CAP_SYS_ADMIN here.
Json bundle_of(const wire::PodSandbox& pod, const wire::Container& container);

/// Returns the variables, mounts, device nodes and hooks that `after` has and `before` does not.
wire::ContainerAdjustment difference(const Json& before, const Json& after);

}  // namespace slipway::nri
