// SPDX-License-Identifier: Apache-2.0
// plugins/toolkit/requests/request.hpp - the devices that a container requests: by annotation, by mount, by environment
// variable; and the ones that it may have.
//
// The author of a pod or an image writes these. So they count only as far as an authorised source allows it: a rule of
// the settings, kubelet, the container's own privileges, or the settings for engines without kubelet.
#pragma once

#include <functional>
#include <set>
#include <string>
#include <vector>

#include <slipway/json.hpp>
#include <slipway/result.hpp>

#include "toolkit/requests/config.hpp"
#include "toolkit/requests/requirement.hpp"

namespace slipway::shim {

/// The devices that kubelet has given to a container.
struct KubeletDevices {
  std::vector<std::string> devices;  ///< qualified CDI names
  std::set<std::string> names;       ///< all names of these devices
  std::string problem;               ///< why kubelet could not be asked; empty: it could
};

/// The origin of a request, as far as the caller knows it.
struct Origin {
  std::string pod_namespace;  ///< empty: the container is not in a pod, or its namespace is unknown
  /// Set if kubelet can be asked for this container's devices: requests of unprivileged containers then count only for
  /// these. Called at most once, and only when no other rule decides.
  std::function<KubeletDevices()> ask_kubelet;
  /// Keys that the pod did not have when it was created: kubelet may have written them for this container, or a user
  /// who annotates a running pod.
  std::set<std::string> fresh_annotations;
};

struct Request {
  std::vector<std::string> devices;       ///< qualified CDI names, each once; "nvidia.com/gpu=all" as requested
  bool driver_only = false;               ///< NVIDIA_VISIBLE_DEVICES=none: the driver's files without a GPU
  std::string source;                     ///< the setting that asked, for messages: "NVIDIA_VISIBLE_DEVICES=0,1"
  std::vector<std::string> warnings;      ///< devices that were left out, and why
  bool asked = false;                     ///< the container asked for something, granted or not
  std::vector<Requirement> requirements;  ///< requirements of the image, if the container gets devices

  bool empty() const { return devices.empty() && !driver_only; }
};

/// Reads the request. Annotations override mounts, and mounts override the environment. The first matching rule decides
/// about each device:
///   - a rule of the settings (slipway.requests) names it: yes. Without one, devices of management.nvidia.com: no
///   - the container is privileged, so that it has all devices of the host in any case: yes
///   - kubelet can be asked: yes if kubelet gave it to the container. A fresh annotation may name the same UUID by
///     another kind, and beside a GPU what device plugins give with each: GDS, MOFED, GDRCopy and IMEX channel 0; a
///     mount, that channel
///   - its vendor is neither that of the settings' default kind nor the device plugin's own: no
///   - a mount, which the settings accept; anything else, where they accept variables of unprivileged containers: yes
/// A variable that does not count is left out, with a warning, and so is an annotation that the engine's own CDI
/// support may be about: a fresh one, and where kubelet cannot be asked, one of another vendor.
/// NVIDIA_VISIBLE_DEVICES=all becomes the devices that kubelet gave.
///
/// @param bundle  the OCI configuration of the container
/// @param where   its file, for errors
/// Errors: `invalid` when a member that is read has another type than in OCI, or more than 4096 devices are requested,
/// or those of requirements_of(); `denied` an annotation or mount that does not count, with the rule that would change
/// that; `unreachable` a UUID that device plugins write, while kubelet does not answer.
Result<Request> read_request(const Json& bundle, const Config& config, const std::string& where,
                             const Origin& origin = {});

/// Reads the annotation of containerd or CRI-O; empty if both exist with different values, or if the container is not
/// in one of their cgroups: podman copies an image's annotations.
std::string pod_namespace_of(const Json& bundle);

}  // namespace slipway::shim
