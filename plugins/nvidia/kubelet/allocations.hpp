// SPDX-License-Identifier: Apache-2.0
// plugins/nvidia/kubelet/allocations.hpp - which containers have which devices: the one reader of it, for all who ask.
//
// kubelet's pod resources API leaves out init containers, and tells nothing while kubelet does not run. Its checkpoint
// has both, and entries of pods that have ended. The reader merges the two.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <slipway/host.hpp>
#include <slipway/result.hpp>

#include "nvidia/kubelet/checkpoint.hpp"
#include "nvidia/kubelet/pod_resources.hpp"
#include "nvidia/kubelet/pod_traces.hpp"

namespace slipway::nvidia::kubelet {

/// A device that kubelet has allocated to a container.
struct Allocation {
  std::string pod_namespace;  ///< empty: only the pod's UID is known
  std::string pod;            ///< its name, else its UID
  std::string container;
  std::string resource;
  std::string id;                ///< as the device plugin gave it: "GPU-…::3"
  bool init_container = false;   ///< one that has not ended, as far as can be seen
  bool from_checkpoint = false;  ///< kubelet's checkpoint alone says so
  bool mps = false;              ///< by its checkpoint: connected with an MPS control daemon

  auto operator<=>(const Allocation&) const = default;  // NOLINT(modernize-use-nullptr): clang-tidy 14 takes it for 0
};

struct Allocations {
  std::vector<Allocation> all;  ///< sorted, each once
  /// Why kubelet itself does not say: `all` is what its checkpoint says. Nothing: it does.
  std::optional<Error> silent;
  /// Why there may be others; empty: these are all.
  std::string incomplete;
};

class AllocationReader {
 public:
  /// @param host    borrowed
  /// @param socket  of kubelet's pod resources API, in the host's root; the checkpoint is beside it, in kubelet's
  /// folder
  AllocationReader(const Host& host, std::string socket) : host_(host), socket_(std::move(socket)) {}

  /// Nothing is allocated where there is no kubelet, and where this user may not ask, who may not change a GPU either.
  /// An entry of the checkpoint counts unless it is certain that it is over:
  ///  - kubelet lists the container: its word counts
  ///  - kubelet lists the pod and not the container, which is an init container: until all containers that kubelet
  ///    lists of the pod run, which they do not before the init containers have ended
  ///  - kubelet does not list the pod: while the pod has a control group; otherwise, while kubelet lists no pod of the
  ///  API
  ///    server yet, as long as the pod has volumes, and while kubelet does not answer, as long as its folder has the
  ///    pod
  Allocations read();

 private:
  Result<Checkpoint> checkpoint();

  const Host& host_;
  std::string socket_;
  std::string text_;  ///< of the checkpoint, as it was parsed last
  std::optional<Result<Checkpoint>> parsed_;
};

/// What read() makes of both. @param listed  null: kubelet does not answer
std::vector<Allocation> merge(const std::vector<ListedPod>* listed, const Checkpoint& checkpoint, PodTraces& traces);

}  // namespace slipway::nvidia::kubelet
