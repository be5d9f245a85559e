// SPDX-License-Identifier: Apache-2.0
// plugins/toolkit/containers/running.hpp - the containers that run, out of the folders in which container engines and
// runc and crun keep their state.
#pragma once

#include <string>
#include <vector>

#include <slipway/host.hpp>

#include "toolkit/containers/given.hpp"

namespace slipway::toolkit {

struct RunningContainer {
  std::string id;
  unsigned pid = 0;  ///< its first process
  Given given;
  std::string cgroups;  ///< text of /proc/PID/cgroup
};

struct RunningContainers {
  std::vector<RunningContainer> with_gpus;
  std::size_t unreadable = 0;  ///< whose configuration cannot be read
  std::size_t rootless = 0;    ///< with GPUs, of users without root
  std::size_t elsewhere = 0;   ///< with GPUs, in a virtual machine (Kata), or on a kernel of their own (gVisor)
  bool denied = false;         ///< a folder of an engine is not for this user
  bool cut = false;            ///< there are more than kMostContainers
};

inline constexpr std::size_t kMostContainers = 8192;

/// Those that were given GPUs, or asked for some. Containers of users without root (rootless podman) are only counted,
/// since no device rules hold them, and so are those whose nodes are not in this machine's files.
RunningContainers running_containers(const Host& host);

}  // namespace slipway::toolkit
