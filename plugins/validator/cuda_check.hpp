// SPDX-License-Identifier: Apache-2.0
// plugins/validator/cuda_check.hpp - does CUDA compute? Tried out by a small program on every GPU.
#pragma once

#include <chrono>
#include <stop_token>
#include <string>
#include <vector>

#include <slipway/host.hpp>
#include <slipway/json.hpp>
#include <slipway/result.hpp>

#include "validator/check.hpp"
#include "validator/driver_check.hpp"

namespace slipway::validator {

inline constexpr const char* kCudaCheck = "validator.cuda";
inline constexpr const char* kCudaProbe = "validator-cuda-probe";

/// What the driver check found out that explains why CUDA does not start.
struct CudaSurroundings {
  std::string library;  ///< libcuda.so.1, a path of this machine; empty: not there
  bool mig_without_instances = false;
};
CudaSurroundings look_around(const Host& host, const DriverCheck& driver);

/// Takes up to 60 s. Not exercised when it could not be tried: no driver, a stop, GPUs that others hold alone or fill.
Finding check_cuda(const CudaSurroundings& around, const std::stop_token& stop);

/// What the probe's answer comes to.
Finding read_probe(const Json& answer, const CudaSurroundings& around);

/// Runs it with this environment and nothing else, and gives what it wrote on standard output.
/// Errors: `timed_out` it was killed after `limit`; `cancelled` it was killed because of `stop`; `io` it ended with a
/// signal or another status than 0; `not_found`, … it cannot be started.
Result<std::string> run_probe(std::vector<std::string> argv, std::vector<std::string> environment,
                              std::chrono::milliseconds limit, const std::stop_token& stop);

/// The program of that name beside this plugin's own file. Errors: `not_found`; `denied` others could have changed it.
Result<std::string> program_beside_plugin(const std::string& name);

}  // namespace slipway::validator
