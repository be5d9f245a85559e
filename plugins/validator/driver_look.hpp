// SPDX-License-Identifier: Apache-2.0
// plugins/validator/driver_look.hpp - asks NVML whether every GPU answers, in this process or in one that ends.
//
// A process that has opened NVML keeps some 17 MB for as long as the library is open. A service calls it in a child,
// and keeps nothing.
#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <vector>

#include <sys/types.h>

#include <slipway/json.hpp>
#include <slipway/result.hpp>

#include "nvidia/nvml/nvml.hpp"

namespace slipway::validator {

/// NVML's answers when every GPU answers.
struct DriverAnswers {
  std::string version;
  std::vector<std::string> gpus;       ///< "GPU-…", in NVML's order
  std::vector<std::string> addresses;  ///< on the PCI bus, in NVML's spelling
  bool mig_without_instances = false;  ///< MIG is enabled on every GPU, and none has an instance
};

/// Errors: those of Nvml::open(); NVML's, with the GPU that does not answer.
using DriverLook = std::function<Result<DriverAnswers>(const nvidia::nvml::LibraryChoice& library)>;

/// Opens NVML, reads, and closes it. @param call_limit  for each call
Result<DriverAnswers> look_at_driver(const nvidia::nvml::LibraryChoice& library, std::chrono::milliseconds call_limit);

inline constexpr const char* kDriverProbe = "validator-driver-probe";

/// look_at_driver() in a separate process: `validator-driver-probe`. Used by one thread.
class ChildLook {
 public:
  /// @param program  the probe's path
  ChildLook(std::string program, std::chrono::milliseconds call_limit)
      : program_(std::move(program)), call_limit_(call_limit) {}

  /// Errors: those of look_at_driver(); `timed_out` the child did not answer, or an earlier one is blocked in the
  /// driver and cannot be ended; `io` it crashed.
  Result<DriverAnswers> look(const nvidia::nvml::LibraryChoice& library);

 private:
  std::string program_;
  std::chrono::milliseconds call_limit_;
  pid_t held_ = -1;  ///< a killed child that has not ended
};

/// The probe's output: the answers, or the error.
Json to_json(const Result<DriverAnswers>& looked);
/// Errors: the printed one; `io` the text is not the probe's output.
Result<DriverAnswers> read_answers(const std::string& text);

}  // namespace slipway::validator
