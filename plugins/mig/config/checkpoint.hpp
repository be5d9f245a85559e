// SPDX-License-Identifier: Apache-2.0
// plugins/mig/config/checkpoint.hpp - the file of `nvidia-mig-parted checkpoint`: every instance of every GPU with its
// place, by the GPUs' UUIDs, as one line of JSON.
//
//   {"Version":"v1","MigState":{"Devices":[{"UUID":"GPU-…","MigMode":1,"GpuInstances":[
//     {"ProfileID":2,"Placement":{"Start":4,"Size":4},"ComputeInstances":[{"ProfileID":2,"EngProfileID":0}]}]}]}}
//
// Its profile ids are the selectors of NVML (NVML_GPU_INSTANCE_PROFILE_…, NVML_COMPUTE_INSTANCE_PROFILE_…). It does not
// contain the placement of the compute instances.
#pragma once

#include <string>
#include <vector>

#include <slipway/result.hpp>

#include "mig/layout/intent.hpp"

namespace slipway::mig {

/// Leaves out GPUs without MIG.
std::string checkpoint_text(const std::vector<Gpu>& gpus);

/// Returns the layouts that the file has recorded. GPUs without an entry are left out. Errors: `invalid` the file has
/// another form; `not_found` a GPU of the file is missing, or has no such profile; `conflict` instances are at a place
/// that the profile does not allow.
Result<std::vector<Intent>> intents_of_checkpoint(const std::string& text, const std::string& file,
                                                  const std::vector<Gpu>& gpus);

}  // namespace slipway::mig
