// SPDX-License-Identifier: Apache-2.0
// plugins/mig/layout/intent.hpp - what a config makes of the GPUs of a machine: for each one the target, computed
// before anything is changed.
#pragma once

#include <string>
#include <vector>

#include <slipway/result.hpp>

#include "mig/layout/arrange.hpp"
#include "mig/layout/gpu.hpp"
#include "mig/layout/target.hpp"

namespace slipway::mig {

/// One GPU that the config takes.
struct Intent {
  Gpu gpu;
  Layout wanted;
  Target target;

  bool holds() const { return is_so(gpu, target); }
  /// "MIG disabled -> 7 x 1g.10gb".
  std::string change_text() const;
  /// "keeps 3g.40gb at 0; destroys 2g.20gb at 4"; empty: there is nothing to keep or destroy.
  std::string instances_text() const;
};

struct Intents {
  std::vector<Intent> gpus;
  /// What the config says without effect here: "entry …: there is no GPU 9, this machine has 8".
  std::vector<std::string> notes;
  std::vector<std::string> idle;  ///< those of the notes that tell of an entry without effect on this machine
  std::vector<std::string> lost;  ///< those that an entry takes and the driver cannot reach: Gpu::lost_text()
};

/// GPUs that no entry takes are left out, and so are those that are lost, those without MIG that are not to have it,
/// and those that somebody else hands out. Errors: those of arrange(); `conflict` an entry names one of the latter;
/// `unsupported` MIG is to be enabled on a GPU that an entry names and that has none.
Result<Intents> intents_of(const Entries& entries, const std::vector<Gpu>& gpus);

/// Only the mode is to change: a GPU that keeps it keeps its instances.
Intents modes_only(Intents intents);

}  // namespace slipway::mig
