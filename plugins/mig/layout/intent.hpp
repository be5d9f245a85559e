// SPDX-License-Identifier: Apache-2.0
// plugins/mig/layout/intent.hpp - the result of a config for the GPUs of a machine: the target of each one, computed
// before anything is changed.
#pragma once

#include <string>
#include <vector>

#include <slipway/result.hpp>

#include "mig/layout/arrange.hpp"
#include "mig/layout/gpu.hpp"
#include "mig/layout/target.hpp"

namespace slipway::mig {

/// One GPU that the config applies to.
struct Intent {
  Gpu gpu;
  Layout wanted;
  Target target;

  bool holds() const { return matches_target(gpu, target); }
  /// Returns "MIG disabled -> 7 x 1g.10gb".
  std::string change_text() const;
  /// Returns "keeps 3g.40gb at 0; destroys 2g.20gb at 4"; empty: there are no instances to keep or destroy.
  std::string instances_text() const;
};

struct Intents {
  std::vector<Intent> gpus;
  /// Notes about parts of the config without effect here: "entry …: there is no GPU 9, this machine has 8".
  std::vector<std::string> notes;
  std::vector<std::string> idle;  ///< the notes about entries without effect on this machine
  std::vector<std::string> lost;  ///< GPUs of an entry that the driver cannot reach: Gpu::lost_text()
};

/// Leaves out GPUs without an entry, lost ones, those without MIG support whose entry does not enable it, and those
/// that another program manages. Errors: those of arrange(); `conflict` an entry names a GPU that another program
/// manages; `unsupported` an entry enables MIG on a GPU without MIG support.
Result<Intents> intents_of(const Entries& entries, const std::vector<Gpu>& gpus);

/// Keeps only changes of the mode: a GPU whose mode does not change keeps its instances.
Intents modes_only(Intents intents);

}  // namespace slipway::mig
