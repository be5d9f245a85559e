// SPDX-License-Identifier: Apache-2.0
// plugins/toolkit/runtime/variables.hpp - the variables of NVIDIA's installer of the container toolkit
// (nvidia-ctk-installer): their names, and the value that counts.
#pragma once

#include <span>
#include <string>
#include <vector>

#include <slipway/json.hpp>
#include <slipway/result.hpp>
#include <slipway/spec.hpp>

#include "nvidia/switch.hpp"
#include "toolkit/environment.hpp"

namespace slipway::toolkit {

/// Returns all variables of the installer, and of its container.
std::span<const nvidia::Switch> installer_variables();

/// Variables of the spec's `env`, which override those of the process.
class Variables {
 public:
  using Names = std::vector<std::string>;
  struct Found {
    std::string name;  ///< empty: none is set
    std::string value;
    std::string where = {};  ///< for a message: "spec.components.runtime.env.NAME", "environment.NAME"
  };

  Variables(const Spec& spec, const Environment& environment);
  /// Returns the first of `names` that is set, and its name.
  Found find(const Names& names) const;
  const Json& of_spec() const { return of_spec_; }
  std::string of_process(const std::string& name) const { return process_(name); }

 private:
  Json of_spec_;
  Environment process_;
};

Error wrong_value(const Variables::Found& found, const std::string& expected);

/// Reads a boolean like Go's strconv.ParseBool. Errors: `invalid`, with the variable.
Result<bool> parse_flag(const Variables::Found& found);

}  // namespace slipway::toolkit
