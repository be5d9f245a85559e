// SPDX-License-Identifier: Apache-2.0
// plugins/nvidia/drain/holders.hpp - the processes that use a GPU, or MIG instances of it: those that NVML lists, and
// those that hold a device node open without a context on the GPU.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "nvidia/drain/process.hpp"
#include "nvidia/nvml/nvml.hpp"

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
  std::string text;         ///< "GPU 3 (0000:65:00.0)"
  bool whole = false;       ///< everybody on the GPU is in the way; else those on affected parts
  std::vector<Part> parts;  ///< of the GPU
  /// NVIDIA's daemons as well, which hold every device open and are in the way of few changes: nvidia-persistenced and
  /// the fabric manager. For naming them once the driver has refused a change.
  bool with_daemons = false;
};

struct Holder {
  Process process;
  std::string holds;  ///< the text of the part, or of the GPU
};

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

/// Of each of them, in their order: each process once, NVML's first, without slipway's own. NVML is asked about all of
/// them at once, and open files are looked at once. Bounded: of one process 16,384 open files are looked at.
std::vector<std::vector<Holder>> find_holders(nvml::Nvml& nvml, const Host& host,
                                              const std::vector<Affected>& affected);

/// "python3 (pid 20417, pod team-a/train-0) on 1g.10gb at 4"
std::string to_text(const Holder& holder);
std::vector<std::string> texts_of(const std::vector<Holder>& holders);

}  // namespace slipway::nvidia::drain
