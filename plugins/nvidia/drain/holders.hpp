// SPDX-License-Identifier: Apache-2.0
// plugins/nvidia/drain/holders.hpp - the users of a GPU, or of MIG instances of it: the processes that NVML lists,
// those that hold a device node open without a context on the GPU, and the pods that kubelet has given it.
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
  std::optional<unsigned> compute_instance;  ///< empty: the whole GPU instance
  std::string text;                          ///< "1g.10gb at 4"
  bool affected = true;                      ///< false: the change keeps this part, which is listed only for its name
};

/// The parts of a GPU that a change removes.
struct Affected {
  nvmlDevice_t device = nullptr;
  std::string text;    ///< "GPU 3 (0000:65:00.0)"
  bool whole = false;  ///< every user of the GPU blocks the change; else only users of affected parts
  /// For a GPU with MIG: its instances change, and a process that NVML lists without an instance may be on any of them.
  bool instances_change = false;
  std::vector<Part> parts;  ///< of the GPU
  /// Include NVIDIA's daemons, nvidia-persistenced and the fabric manager. They hold every device open but block few
  /// changes; used to name them after the driver has refused a change.
  bool with_daemons = false;
};

struct DeviceHolder {
  enum class Kind {
    process,
    pod,      ///< a pod with the device according to kubelet, without a process; only `process.pod` is set
    unknown,  ///< possibly a pod: kubelet does not answer
    unseen,   ///< possibly a process: there were more open files than slipway reads
  };
  Process process;
  std::string holds;  ///< the text of the part, or of the GPU
  Kind kind = Kind::process;
  std::string problem = {};      ///< for `unknown` and `unseen`: the reason
  std::string next = {};         ///< how to end a holder that is not a process: "delete the pod …"
  bool init_container = false;   ///< of `pod`
  bool from_checkpoint = false;  ///< for `pod`: only kubelet's checkpoint has it
  /// For a process that NVML does not list: it has a device node open, which any process may open and pass to a daemon.
  bool only_open = false;
};

/// kubelet's allocations.
struct PodHolders {
  nvidia::kubelet::GpuPods holders;
  std::string problem = {};  ///< why kubelet does not answer; empty: kubelet answers, or there is no kubelet
  std::string next = {};     ///< how to make it answer
};

/// True for one of NVIDIA's daemons, recognized by name, program and user.
bool is_daemon(const Host& host, const Process& process);

/// Returns the holders of each affected GPU, in the same order: each process once, NVML's first, without slipway's own;
/// then the pods that have no process there. Asks NVML about all GPUs together, and reads the open files once. A user
/// with more open files than the limits may hold any of the GPUs, and counts as `unseen`.
std::vector<std::vector<DeviceHolder>> find_holders(nvml::Nvml& nvml, const Host& host,
                                                    const std::vector<Affected>& affected, const PodHolders& given = {},
                                                    const OpenFileLimits& limits = {});

/// The users of the loaded driver, whichever GPU they use: each process that has a device node of the driver open,
/// once, without slipway's own; then the pods that kubelet has given a GPU and that have no such process. NVML is not
/// asked: it does not answer when its library is of another version than the modules.
std::vector<DeviceHolder> find_driver_holders(const Host& host, const PodHolders& given,
                                              const OpenFileLimits& limits = {});

/// Removes the processes of these units, which an apply stops and starts again.
void erase_units(const Host& host, const std::vector<std::string>& units, std::vector<DeviceHolder>& holders);

/// "python3 (pid 20417, pod team-a/train-0) on 1g.10gb at 4",
/// "pod team-a/train-0, container trainer (given by kubelet, no process found) on 1g.10gb at 4"
std::string to_text(const DeviceHolder& holder);
std::vector<std::string> texts_of(const std::vector<DeviceHolder>& holders);
/// For messages: the texts of the first holders, and "2993 more" for the others.
std::vector<std::string> few_texts_of(const std::vector<DeviceHolder>& holders);
/// Returns the first of these texts, and the number of the others.
std::vector<std::string> first_few_of(std::vector<std::string> texts);
/// Returns how to end the holders: "stop the processes that use it and delete the pod …".
std::string how_to_end(const std::vector<DeviceHolder>& holders);

}  // namespace slipway::nvidia::drain
