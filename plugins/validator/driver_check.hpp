// SPDX-License-Identifier: Apache-2.0
// plugins/validator/driver_check.hpp - does the driver run, does every GPU answer, and are the companion drivers
// there?
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
  /// @param wanted_root  of the spec; empty: auto
  DriverCheck(const Host& host, std::string wanted_root, DriverLook look)
      : host_(host), wanted_root_(std::move(wanted_root)), look_(std::move(look)) {}

  /// Kernel module, device nodes, library, and every GPU through NVML.
  Finding run();
  /// The same without NVML, which is asked only when the driver is at another place than before, or did not run: then
  /// what it answered last counts.
  Finding run_without_nvml();
  /// NVML is to be asked anew, whatever it answered before.
  void forget();

  /// What the last run() saw.
  const std::optional<DriverPlace>& place() const { return place_; }
  const std::string& version() const { return answers_.version; }
  /// "GPU-…", in NVML's order; empty when it did not pass.
  const std::vector<std::string>& gpus() const { return answers_.gpus; }
  bool mig_without_instances() const { return answers_.mig_without_instances; }
  /// How often NVML was asked.
  std::uint64_t looks() const { return looks_; }
  /// What the check goes by: device nodes, and where the driver's library may be.
  std::vector<std::string> paths() const;

 private:
  /// What the kernel and the file system show; nothing: NVML may be asked.
  std::optional<Finding> look_around();
  std::optional<Finding> check_kernel() const;
  Finding ask_nvml();
  std::optional<Finding> missing_gpu(const DriverAnswers& answers) const;

  const Host& host_;
  std::string wanted_root_;
  DriverLook look_;
  std::optional<DriverPlace> place_;
  std::optional<Finding> answered_;  ///< by NVML, of the driver at place_
  DriverAnswers answers_;
  std::uint64_t looks_ = 0;
};

/// The device nodes of a running driver that are missing or have another number: "/dev/nvidia-uvm is missing".
std::vector<std::string> wrong_nodes(const Host& host, const std::string& dev_root);

/// "nvidia-fs", "gdrcopy", "nvidia-peermem", "mofed".
const std::vector<std::string>& companions();
/// Its kernel module, which is what counts.
std::string companion_module(const std::string& companion);
/// The finding validator.COMPANION.
Finding check_companion(const Host& host, const std::string& companion);

/// The text of the file .driver-ctr-ready: which of them this driver has.
std::string driver_ctr_ready_text(const Host& host);

}  // namespace slipway::validator
