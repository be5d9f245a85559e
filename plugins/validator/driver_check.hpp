// SPDX-License-Identifier: Apache-2.0
// plugins/validator/driver_check.hpp - checks that the driver runs, that every GPU answers, and that the companion
// drivers are present.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <slipway/host.hpp>

#include "validator/check.hpp"
#include "validator/driver_look.hpp"
#include "validator/driver_place.hpp"

namespace slipway::validator {

inline constexpr const char* kDriverCheck = "validator.driver";

class DriverCheck {
 public:
  /// @param wanted_root  root from the spec; empty: auto
  DriverCheck(const Host& host, std::string wanted_root, DriverLook look)
      : host_(host), wanted_root_(std::move(wanted_root)), look_(std::move(look)) {}

  /// Checks kernel module, device nodes, library, and every GPU through NVML.
  Finding run();
  /// The same without NVML, which is called only when the driver is at another place than before, or did not run: else
  /// its last answer counts.
  Finding run_without_nvml();
  /// Discards NVML's last answer, so that it is called again.
  void forget();

  /// Returns the result of the last run().
  const std::optional<DriverPlace>& place() const { return place_; }
  const std::string& version() const { return answers_.version; }
  /// "GPU-…", in NVML's order; empty when the check did not pass.
  const std::vector<std::string>& gpus() const { return answers_.gpus; }
  bool mig_without_instances() const { return answers_.mig_without_instances; }
  /// Number of NVML sessions so far.
  std::uint64_t looks() const { return looks_; }
  /// Returns the paths that the check depends on: device nodes, and possible places of the driver's library.
  std::vector<std::string> paths() const;

 private:
  /// Checks kernel and file system; empty: NVML may be called.
  std::optional<Finding> look_around();
  std::optional<Finding> check_kernel() const;
  Finding ask_nvml();
  std::optional<Finding> missing_gpu(const DriverAnswers& answers) const;

  const Host& host_;
  std::string wanted_root_;
  DriverLook look_;
  std::optional<DriverPlace> place_;
  std::optional<Finding> answered_;  ///< result of NVML for the driver at place_
  DriverAnswers answers_;
  std::uint64_t looks_ = 0;
};

/// Returns the device nodes of a running driver that are missing or have another number: "/dev/nvidia-uvm is missing".
std::vector<std::string> wrong_nodes(const Host& host, const std::string& dev_root);

/// "nvidia-fs", "gdrcopy", "nvidia-peermem", "mofed".
const std::vector<std::string>& companions();
/// Returns the companion's kernel module, which decides whether the companion is present.
std::string companion_module(const std::string& companion);
/// The finding validator.COMPANION.
Finding check_companion(const Host& host, const std::string& companion);

/// Returns the text of the file .driver-ctr-ready: the companions that this driver has.
std::string driver_ctr_ready_text(const Host& host);

}  // namespace slipway::validator
