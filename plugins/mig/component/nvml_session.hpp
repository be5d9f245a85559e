// SPDX-License-Identifier: Apache-2.0
// plugins/mig/component/nvml_session.hpp - NVML for as long as it is used; after the first change of a GPU, for as long
// as the apply lasts.
#pragma once

#include <memory>
#include <string>

#include <slipway/host.hpp>
#include <slipway/result.hpp>

#include "nvidia/nvml/nvml.hpp"

namespace slipway::mig {

class NvmlSession {
 public:
  /// Returns the session of the apply if this worker has begun to change GPUs; else one that ends with this object, so
  /// that the driver can be replaced before this component runs. Errors: those of open_nvml().
  static Result<NvmlSession> open(const Host& host, const std::string& driver_root);
  /// Starts the session of the apply, which ends with the worker.
  static Result<NvmlSession> open_for_apply(const Host& host, const std::string& driver_root);

  nvidia::nvml::Nvml& operator*() const { return *nvml_; }

 private:
  explicit NvmlSession(std::shared_ptr<nvidia::nvml::Nvml> nvml) : nvml_(std::move(nvml)) {}

  std::shared_ptr<nvidia::nvml::Nvml> nvml_;
};

}  // namespace slipway::mig
