// SPDX-License-Identifier: Apache-2.0
// plugins/nvidia/kubelet/holders.hpp - which containers hold which GPUs, out of kubelet's list of pods.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <slipway/host.hpp>
#include <slipway/result.hpp>

namespace slipway::nvidia::kubelet {

/// A container that has been given a device.
struct Holder {
  std::string pod_namespace;
  std::string pod;
  std::string container;
  std::string replica;  ///< its number, of a device that several share; empty: the device is not shared

  auto operator<=>(const Holder&) const = default;  // NOLINT(modernize-use-nullptr): clang-tidy 14 takes it for 0
};

/// By device, sorted, each holder once: "GPU-…", "MIG-…", "GPU-…/3" (the GPU instance 3), or GKE's "nvidia0" and
/// "nvidia0/gi3".
using Holders = std::map<std::string, std::vector<Holder>, std::less<>>;

inline constexpr std::size_t kMostHolders = 256;  ///< of one device; further ones are left out

inline constexpr const char* kPodResourcesSocket = "/var/lib/kubelet/pod-resources/kubelet.sock";

/// kubelet's answer to v1.PodResourcesLister/List, of at most 16 MiB, within three seconds. @param fd  as for call()
/// Errors: those of call().
Result<std::string> list_pods(int fd);

/// The containers with resources nvidia.com/gpu, nvidia.com/mig-… and `more_resources`, out of that answer.
/// Errors: `corrupt` it is none.
Result<Holders> holders_in(const std::string& answer, const std::vector<std::string>& more_resources);
/// Those with any resource.
Result<Holders> all_holders_in(const std::string& answer);

/// The same, out of the file in which kubelet notes what it gives, and which is there while kubelet does not run. It
/// names pods by their UID; the name of one is that of its folder in /var/log/pods, else its UID without a namespace.
/// Errors: `corrupt` the file has another form; those of reading it, of which `not_found` says that none was given.
Result<Holders> holders_of_checkpoint(const Host& host, const std::string& file);

/// All that kubelet has given to pods: by its own word, or by its file where there is no socket or nobody listens at
/// it. Nothing where there is no such file either, and where this user may not ask, who may not change a GPU either.
/// Errors: kubelet is there and does not answer, or it does not run and its file cannot be read; where: the socket.
Result<Holders> given_devices(const Host& host, const std::string& socket);

/// A device's key, and the number of the replica: "GPU-1::3" -> "GPU-1" and "3".
struct DeviceId {
  std::string key;
  std::string replica;
};
DeviceId parse_device_id(std::string_view id);

}  // namespace slipway::nvidia::kubelet
