// SPDX-License-Identifier: Apache-2.0
// core/worker/serve/worker_mark.hpp - how a worker and what it started can be told from other processes.
#pragma once

namespace slipway::core {

/// Each worker's own name, in the environment of all that it starts.
constexpr const char* kWorkerVariable = "SLIPWAY_WORKER_ID";

/// oom_score_adj(5) of every worker: when memory is short, a plugin goes before slipway. All descendants inherit it,
/// even those that wipe their environment, and it can still be read of the dead. Nobody picks this number by chance.
constexpr int kWorkerOomScore = 313;

}  // namespace slipway::core
