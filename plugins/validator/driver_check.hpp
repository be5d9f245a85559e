// SPDX-License-Identifier: Apache-2.0
// plugins/validator/driver_check.hpp - does the driver run, does every GPU answer, and are the companion drivers
// there?
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <slipway/host.hpp>

#include "nvidia/nvml/nvml.hpp"
#include "validator/check.hpp"
#include "validator/driver_place.hpp"

namespace slipway::validator {

inline constexpr const char* kDriverCheck = "validator.driver";

class DriverCheck {
 public:
  /// @param wanted_root  of the spec; empty: auto
  /// @param call_limit   of each question to NVML
  DriverCheck(const Host& host, std::string wanted_root, std::chrono::milliseconds call_limit)
      : host_(host), wanted_root_(std::move(wanted_root)), call_limit_(call_limit) {}

  /// Kernel module, device nodes, library, and every GPU through NVML, which is kept open for the next time.
  Finding run();
  /// Closes NVML; the next run() opens it again.
  void release() { nvml_.reset(); }

  /// What the last run() saw.
  const std::optional<DriverPlace>& place() const { return place_; }
  const std::string& version() const { return version_; }
  /// "GPU-…", in NVML's order; empty when it did not pass.
  const std::vector<std::string>& gpus() const { return gpus_; }
  nvidia::nvml::Nvml* nvml() { return nvml_.get(); }

 private:
  std::optional<Finding> check_kernel() const;
  std::optional<Finding> open_library();
  Finding ask_gpus();
  Finding give_up(Finding finding);

  const Host& host_;
  std::string wanted_root_;
  std::chrono::milliseconds call_limit_;
  std::unique_ptr<nvidia::nvml::Nvml> nvml_;
  std::optional<DriverPlace> place_;
  std::string version_;
  std::vector<std::string> gpus_;
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
