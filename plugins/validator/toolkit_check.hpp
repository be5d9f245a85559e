// SPDX-License-Identifier: Apache-2.0
// plugins/validator/toolkit_check.hpp - do container engines get GPUs? By CDI specs, or by NVIDIA's runtime.
#pragma once

#include <optional>

#include <slipway/host.hpp>

#include "validator/cdi_specs.hpp"
#include "validator/check.hpp"

namespace slipway::validator {

inline constexpr const char* kToolkitCheck = "validator.toolkit";

class ToolkitCheck {
 public:
  explicit ToolkitCheck(const Host& host) : host_(host), cdi_(host) {}
  /// Not exercised where there is neither a CDI spec nor an engine that is set up for a GPU runtime.
  Finding run();

 private:
  std::optional<Finding> check_cdi();
  std::optional<Finding> check_runtime() const;

  const Host& host_;
  CdiSpecs cdi_;
};

}  // namespace slipway::validator
