// SPDX-License-Identifier: Apache-2.0
// plugins/nvidia/process/process.hpp - a process for people: its name, and the unit, container or pod that it belongs
// to.
//
// Everything here is read from files whose content users choose. Texts are cut, and control characters are replaced.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include <slipway/host.hpp>

namespace slipway::nvidia {

/// The owner of a process' control group, as root assigned it. Groups that a user, service or container creates inside
/// its own count only as names, never as a pod or a system unit.
struct Owner {
  std::string unit;       ///< systemd unit: "slurmd.service", "user@1000.service"; empty: none, or it is in a container
  std::string runtime;    ///< "docker", "containerd", "cri-o", "podman"; may be empty for a container
  std::string container;  ///< id, 64 hexadecimal digits; empty: none. With a unit the id comes from a user, and may be
                          ///< false
  std::string pod_uid;    ///< empty: none
  std::string user_unit;  ///< the user's name for it below `unit`: "jupyter.service"; empty: none

  bool operator==(const Owner&) const = default;
};

/// @param cgroups  text of /proc/PID/cgroup, of version 1 or 2
Owner owner_of(std::string_view cgroups);

struct Process {
  unsigned pid = 0;
  unsigned parent = 0;
  std::string name;  ///< the kernel's name for it (comm); empty: unknown
  char state = '?';  ///< as in proc(5): R, S, D, Z, …
  bool kernel_thread = false;
  std::uint64_t start = 0;  ///< clock ticks after the boot; with the pid it identifies the process. 0: unknown
  std::string started;      ///< "2026-11-26 09:12 UTC"; empty: unknown
  Owner owner;
  std::string pod;            ///< "NAMESPACE/NAME", or the pod's UID if its name is unknown; empty: not in a pod
  std::string pod_container;  ///< the container's name in the pod; empty: unknown
};

/// Reads the data of proc(5); only the pid is set if the process is not visible.
Process read_process(const Host& host, unsigned pid);

/// At most `most` bytes of it; control characters and bytes above ASCII become '?'.
std::string cleaned(std::string_view text, std::size_t most = 64);

/// Returns "NAMESPACE/NAME", or the name alone without a namespace; cleaned.
std::string pod_text(const std::string& pod_namespace, const std::string& pod);

/// "2026-11-26 09:12 UTC": seconds since 1970.
std::string utc_text(std::int64_t seconds);

/// "python3 (pid 20417, pod team-a/train-0, container trainer, since 2026-11-26 09:12 UTC)".
std::string to_text(const Process& process);

/// The processes of slipway itself: this one and the apply that it works for, and the services with a control socket,
/// each with its children. They release the driver when they are quiesced.
class OwnProcesses {
 public:
  explicit OwnProcesses(const Host& host);
  bool contains(unsigned pid) const;

 private:
  const Host& host_;
  std::set<unsigned> roots_;
};

}  // namespace slipway::nvidia
