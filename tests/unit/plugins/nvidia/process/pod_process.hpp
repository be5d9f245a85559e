// SPDX-License-Identifier: Apache-2.0
// tests/unit/plugins/nvidia/process/pod_process.hpp - a process of a pod in the files of a FakeHost.
#pragma once

#include <string>

#include <slipway/testing/fake_host.hpp>

namespace slipway::testing {

inline constexpr const char* kPodUid = "5c1b0a9e-1111-2222-3333-444455556666";
inline const std::string kContainer(64, 'c');
/// The control group of that container.
inline const std::string kPodGroup =
    "/kubepods.slice/kubepods-besteffort.slice/kubepods-besteffort-pod5c1b0a9e_1111_2222_3333_444455556666.slice"
    "/cri-containerd-" +
    kContainer + ".scope";

/// Process 4711. @param like  has `name`, `program` (empty: not readable), `user`, `capabilities` and `group`
template <class Like>
void run_process(FakeHost& host, const Like& like) {
  host.file("/proc/4711/stat",
            "4711 (" + like.name + ") S 3 7 7 0 -1 4194304 100 0 0 0 1 2 0 0 20 0 1 0 12345 1000 200\n");
  host.file("/proc/4711/status", "Name:\tx\nUid:\t1000\t" + like.user + "\t0\t0\nCapEff:\t" + like.capabilities + "\n");
  host.file("/proc/4711/cgroup", "0::" + like.group + "\n");
  if (!like.program.empty()) host.link("/proc/4711/exe", like.program);
}

}  // namespace slipway::testing
