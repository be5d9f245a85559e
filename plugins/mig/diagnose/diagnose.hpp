// SPDX-License-Identifier: Apache-2.0
// plugins/mig/diagnose/diagnose.hpp - failure patterns of partitioned GPUs that are known, each with what to do: for
// `slipway doctor`.
#pragma once

#include <string>
#include <vector>

#include <slipway/findings.hpp>
#include <slipway/host.hpp>

#include "mig/layout/intent.hpp"

namespace slipway::mig {

/// Only what is there is found:
///   mig.no-instances   MIG is enabled on a GPU without instances, which no program can use
///   mig.no-devices     a GPU instance without a compute instance: it takes its slices and is not a device
///   mig.reset          a change of the mode waits for a reset
///   mig.unmanaged      MIG devices that no entry of the config takes: slipway does not make them again after a boot
/// @param intents  of the config; null: it cannot be told what the config makes of the GPUs
/// @param config   "the config all-balanced"
void diagnose_gpus(const std::vector<Gpu>& gpus, const std::vector<Intent>* intents, const std::string& config,
                   Findings& findings);

///   mig.caps           device nodes of an instance are missing, without which no container can use it
void diagnose_capabilities(const Host& host, Findings& findings);

}  // namespace slipway::mig
