// SPDX-License-Identifier: Apache-2.0
// plugins/mig/diagnose/diagnose.hpp - known failure patterns of partitioned GPUs, each with its remedy: for `slipway
// doctor`.
#pragma once

#include <string>
#include <vector>

#include <slipway/findings.hpp>
#include <slipway/host.hpp>

#include "mig/layout/intent.hpp"

namespace slipway::mig {

/// Adds a finding only for a problem that exists:
///   mig.no-instances   MIG is enabled on a GPU without instances, which no program can use
///   mig.no-devices     a GPU instance without a compute instance: it takes its slices and is not a device
///   mig.reset          a change of the mode waits for a reset
///   mig.unmanaged      MIG devices outside of the config: slipway does not create them again after a boot
/// @param intents  targets by the config; null: unknown
/// @param config   "the config all-balanced"
void diagnose_gpus(const std::vector<Gpu>& gpus, const std::vector<Intent>* intents, const std::string& config,
                   Findings& findings);

///   mig.caps           device nodes of an instance are missing, without which no container can use it
void diagnose_capabilities(const Host& host, Findings& findings);

}  // namespace slipway::mig
