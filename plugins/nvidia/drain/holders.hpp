// SPDX-License-Identifier: Apache-2.0
// plugins/nvidia/drain/holders.hpp - who uses a GPU, or MIG instances of it: the processes that NVML lists, those that
// hold a device node open without a context on the GPU, and the pods that kubelet has given it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "nvidia/drain/open_files.hpp"
#include "nvidia/kubelet/gpu_pods.hpp"
#include "nvidia/nvml/nvml.hpp"
#include "nvidia/process/process.hpp"

namespace slipway::nvidia::drain {

/// A MIG instance.
struct Part {
  unsigned gpu_instance = 0;
  std::optional<unsigned> compute_instance;  ///< empty: the GPU instance with all that is in it
  std::string text;                          ///< "1g.10gb at 4"
  bool affected = true;                      ///< false: it stays, and is only here for its name
};

/// What a change takes away of a GPU.
struct Affected {
  nvmlDevice_t device = nullptr;
  std::string text;    ///< "GPU 3 (0000:65:00.0)"
  bool whole = false;  ///< everybody on the GPU is in the way; else those on affected parts
  /// Of a GPU with MIG: its instances change, and a process that NVML lists without an instance may be on any of them.
  bool instances_change = false;
  std::vector<Part> parts;  ///< of the GPU
  /// NVIDIA's daemons as well, which hold every device open and are in the way of few changes: nvidia-persistenced and
  /// the fabric manager. For naming them once the driver has refused a change.
  bool with_daemons = false;
};

struct DeviceHolder {
  enum class Kind {
    process,
    pod,      ///< one that kubelet has given it, and of which no process was found: only `process.pod` is known
    unknown,  ///< a pod, perhaps: kubelet does not say
    unseen,   ///< a process, perhaps: there were more open files than slipway looks at
  };
  Process process;
  std::string holds;  ///< the text of the part, or of the GPU
  Kind kind = Kind::process;
  std::string problem = {};      ///< of `unknown` and `unseen`: why
  std::string next = {};         ///< what ends it where that is not a process: "delete the pod …"
  bool init_container = false;   ///< of `pod`
  bool from_checkpoint = false;  ///< of `pod`: kubelet's checkpoint alone says so
  /// Of a process: NVML does not list it. It has a device node open, which anybody may open and send to a daemon.
  bool only_open = false;
};

/// What kubelet says of its pods.
struct Given {
  nvidia::kubelet::GpuPods holders;
  std::string problem = {};  ///< there is a kubelet, and it does not say; empty: it says, or there is none
  std::string next = {};     ///< what makes it say so
};

/// One of NVIDIA's daemons, by its name, its program and its user.
bool is_daemon(const Host& host, const Process& process);

/// Of each of them, in their order: each process once, NVML's first, without slipway's own; then the pods that have no
/// process there. NVML is asked about all of them at once, and open files are looked at once. Where there are more of
/// them than the limits, whoever has the others may hold each of the affected: `unseen`.
std::vector<std::vector<DeviceHolder>> find_holders(nvml::Nvml& nvml, const Host& host,
                                                    const std::vector<Affected>& affected, const Given& given = {},
                                                    const OpenFileLimits& limits = {});

/// "python3 (pid 20417, pod team-a/train-0) on 1g.10gb at 4",
/// "pod team-a/train-0, container trainer (given by kubelet, no process found) on 1g.10gb at 4"
std::string to_text(const DeviceHolder& holder);
std::vector<std::string> texts_of(const std::vector<DeviceHolder>& holders);
/// For messages: the first of them, and of how many more there are "2993 more".
std::vector<std::string> few_texts_of(const std::vector<DeviceHolder>& holders);
/// The first of these texts, and the number of the others.
std::vector<std::string> few_of(std::vector<std::string> texts);
/// "end what uses it and delete the pod …": what there is to do about them.
std::string how_to_end(const std::vector<DeviceHolder>& holders);

}  // namespace slipway::nvidia::drain
