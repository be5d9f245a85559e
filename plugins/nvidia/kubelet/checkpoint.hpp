// SPDX-License-Identifier: Apache-2.0
// plugins/nvidia/kubelet/checkpoint.hpp - kubelet's file device-plugins/kubelet_internal_checkpoint: the devices that
// it has allocated, also to init containers, and the devices that are registered with it. It exists while kubelet does
// not run.
#pragma once

#include <map>
#include <string>
#include <vector>

#include <slipway/host.hpp>
#include <slipway/result.hpp>

namespace slipway::nvidia::kubelet {

/// The devices of a resource that a container was given. kubelet removes the entries of a pod some time after the pod
/// has ended, and those of an init container with its pod.
struct CheckpointEntry {
  std::string pod_uid;
  std::string container;
  std::string resource;
  std::vector<std::string> ids;
  bool mps = false;  ///< the device plugin's answer connects the container with an MPS control daemon
};

struct Checkpoint {
  std::vector<CheckpointEntry> entries;
  std::map<std::string, std::vector<std::string>> registered;  ///< healthy devices by resource
};

/// kubelet replaces the file atomically, so it is never partial. The checksum is not compared: its text differs between
/// kubelet's versions. Errors: `corrupt` the file has another form.
Result<Checkpoint> parse_checkpoint(const std::string& text, const std::string& file);
/// Errors: those of parse_checkpoint() and of Host::read(); `not_found` kubelet has allocated nothing yet.
Result<Checkpoint> read_checkpoint(const Host& host, const std::string& file);

/// Returns the file below kubelet's folder, such as "/var/lib/kubelet".
std::string checkpoint_file(const std::string& kubelet_root);
/// Returns kubelet's folder for its pod resources socket; empty: the socket is elsewhere.
std::string kubelet_root_of(const std::string& pod_resources_socket);

inline constexpr std::size_t kLargestCheckpoint = std::size_t{16} << 20U;

}  // namespace slipway::nvidia::kubelet
