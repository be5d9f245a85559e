// SPDX-License-Identifier: Apache-2.0
// plugins/nvidia/process/process.hpp - a process as people look for it: its name, and the unit, container or pod that
// it belongs to.
//
// Everything here is read from files whose content users choose. Texts are cut, and bytes that a terminal would obey
// are replaced.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include <slipway/host.hpp>

namespace slipway::nvidia {

/// Whom the control group of a process belongs to: whoever root gave it to. What a user, a service or a container makes
/// in the groups that it was given counts as a name alone, and never as a pod or as a unit of the system.
struct Owner {
  std::string unit;       ///< of systemd: "slurmd.service", "user@1000.service"; empty: none, or it is in a container
  std::string runtime;    ///< "docker", "containerd", "cri-o", "podman"; may be empty where there is a container
  std::string container;  ///< id, 64 hexadecimal digits; empty: none. With a unit it is that of a user, who may lie
  std::string pod_uid;    ///< empty: none
  std::string user_unit;  ///< what a user calls it beneath `unit`: "jupyter.service"; empty: nothing

  bool operator==(const Owner&) const = default;
};

/// @param cgroups  text of /proc/PID/cgroup, of version 1 or 2
Owner owner_of(std::string_view cgroups);

struct Process {
  unsigned pid = 0;
  unsigned parent = 0;
  std::string name;  ///< what the kernel calls it (comm); empty: not known
  char state = '?';  ///< as in proc(5): R, S, D, Z, …
  bool kernel_thread = false;
  std::uint64_t start = 0;  ///< clock ticks after the boot; with the pid, what tells it from all others. 0: not known
  std::string started;      ///< "2026-11-26 09:12 UTC"; empty: not known
  Owner owner;
  std::string pod;            ///< "NAMESPACE/NAME", or the pod's UID where its name is not known; empty: no pod
  std::string pod_container;  ///< the container's name in the pod; empty: not known
};

/// As proc(5) says it; only the pid is set where the process cannot be seen.
Process read_process(const Host& host, unsigned pid);

/// At most `most` bytes of it; control characters and bytes above ASCII become '?'.
std::string cleaned(std::string_view text, std::size_t most = 64);

/// "NAMESPACE/NAME", or the name alone where there is no namespace; cleaned.
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
