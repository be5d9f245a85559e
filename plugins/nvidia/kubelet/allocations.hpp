// SPDX-License-Identifier: Apache-2.0
// plugins/nvidia/kubelet/allocations.hpp - the devices of each container: the one reader for all callers.
//
// kubelet's pod resources API leaves out init containers, and does not answer while kubelet is stopped. Its checkpoint
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
  std::string pod_namespace;  ///< its name, or its UID
  std::string pod;            ///< as the device plugin named it: "GPU-…::3"
  std::string container;
  std::string resource;
  std::string id;                ///< as the device plugin gave it: "GPU-…::3"
  bool init_container = false;   ///< as far as known, an init container that has not ended
  bool from_checkpoint = false;  ///< only kubelet's checkpoint has it
  bool mps = false;              ///< according to the checkpoint: it uses an MPS control daemon

  auto operator<=>(const Allocation&) const = default;  // NOLINT(modernize-use-nullptr): clang-tidy 14 takes it for 0
};

struct Allocations {
  std::vector<Allocation> all;  ///< sorted, each once
  /// The reason why kubelet itself does not answer; `all` is then from its checkpoint. Empty: it answers.
  std::optional<Error> silent;
  /// The reason why the list may be incomplete; empty: it is complete.
  std::string incomplete;
};

class AllocationReader {
 public:
  /// @param host    borrowed
  /// @param socket  of kubelet's pod resources API, in the host's root; the checkpoint is beside it, in kubelet's
  /// folder
  AllocationReader(const Host& host, std::string socket) : host_(host), socket_(std::move(socket)) {}

  /// Reads the allocations. Without a kubelet there are no allocations; a user who may not ask kubelet gets none
  /// either, because such a user may not change a GPU. An entry of the checkpoint counts unless it has certainly ended:
  ///  - kubelet lists the container: its answer counts
  ///  - kubelet lists the pod but not the container, an init container: it counts until all listed containers of the
  ///    pod run, because they start after the init containers
  ///  - kubelet does not list the pod: it counts while the pod has a control group. Otherwise, it counts as long as the
  ///    pod has volumes if kubelet lists no pod of the API server yet, or as long as kubelet's folder has the pod if
  ///    kubelet does not answer
  Allocations read();

 private:
  Result<Checkpoint> checkpoint();

  const Host& host_;
  std::string socket_;
  std::string text_;  ///< Combines both sources. @param listed  null: kubelet does not answer
  std::optional<Result<Checkpoint>> parsed_;
};

/// Merges both, as read() does. @param listed  null: kubelet does not answer
std::vector<Allocation> merge(const std::vector<ListedPod>* listed, const Checkpoint& checkpoint, PodTraces& traces);

}  // namespace slipway::nvidia::kubelet
