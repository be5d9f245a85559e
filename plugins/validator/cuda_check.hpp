// SPDX-License-Identifier: Apache-2.0
// plugins/validator/cuda_check.hpp - checks that CUDA computes, with a small program on every GPU.
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

/// Results of the driver check that explain why CUDA does not start.
struct CudaSurroundings {
  std::string library;  ///< libcuda.so.1, a path of this machine; empty: missing
  bool mig_without_instances = false;
};
CudaSurroundings look_around(const Host& host, const DriverCheck& driver);

/// Takes up to 60 s. Not exercised when it could not run: no driver, a stop, or GPUs that other processes use
/// exclusively or have filled.
Finding check_cuda(const CudaSurroundings& around, const std::stop_token& stop);

/// Turns the probe's answer into a finding.
Finding read_probe(const Json& answer, const CudaSurroundings& around);

/// Runs the program with only this environment, and returns its standard output. Errors: `timed_out` it was killed
/// after `limit`; `cancelled` it was killed because of `stop`; `io` it ended with a signal or a status other than 0;
/// `not_found`, … it cannot be started.
Result<std::string> run_probe(std::vector<std::string> argv, std::vector<std::string> environment,
                              std::chrono::milliseconds limit, const std::stop_token& stop);

/// Returns the program of that name beside this plugin's own file. Errors: `not_found`; `denied` other users could have
/// changed it.
Result<std::string> program_beside_plugin(const std::string& name);

}  // namespace slipway::validator
