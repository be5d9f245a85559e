// SPDX-License-Identifier: Apache-2.0
// plugins/toolkit/containers/running_containers.hpp - the running containers, from the folders in which container
// engines and runc and crun keep their state.
#pragma once

#include <string>
#include <vector>

#include <slipway/host.hpp>

#include "toolkit/containers/container_gpus.hpp"

namespace slipway::toolkit {

struct RunningContainer {
  std::string id;
  unsigned pid = 0;  ///< its first process
  ContainerGpus given;
  std::string cgroups;  ///< text of /proc/PID/cgroup
};

struct RunningContainers {
  std::vector<RunningContainer> with_gpus;
  std::size_t unreadable = 0;  ///< with an unreadable configuration
  std::size_t rootless = 0;    ///< with GPUs, of users without root
  std::size_t elsewhere = 0;   ///< with GPUs, in a virtual machine (Kata), or with a kernel of its own (gVisor)
  bool denied = false;         ///< this user may not read a folder of an engine
  bool cut = false;            ///< there are more than kMostContainers
};

inline constexpr std::size_t kMostContainers = 8192;

/// Returns containers that have GPUs or ask for some. Containers of users without root (rootless podman) are only
/// counted, because they have no device rules; so are those with nodes outside of this machine's files.
RunningContainers running_containers(const Host& host);

}  // namespace slipway::toolkit
