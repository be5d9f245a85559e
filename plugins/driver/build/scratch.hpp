// SPDX-License-Identifier: Apache-2.0
// plugins/driver/build/scratch.hpp - a temporary folder that goes at the end of its life, whatever it holds.
#pragma once

#include <string>

#include <slipway/result.hpp>

#include "base/write/scratch_folder.hpp"

namespace slipway::driver {

class Scratch {
 public:
  /// Below parent(wanted). Errors: those of ScratchFolder::make().
  static Result<Scratch> make(const std::string& wanted);

  /// Where temporary things go, absolute: `wanted`, else $TMPDIR, else /var/tmp.
  static std::string parent(const std::string& wanted);

  /// Path of a name below it.
  std::string at(const std::string& name) const { return folder_.path() + "/" + name; }

 private:
  explicit Scratch(ScratchFolder folder) : folder_(std::move(folder)) {}
  ScratchFolder folder_;
};

}  // namespace slipway::driver
