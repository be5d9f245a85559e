// SPDX-License-Identifier: Apache-2.0
// plugins/driver/build/scratch.hpp - a temporary folder that is removed at the end of its life, with everything in it.
#pragma once

#include <string>

#include <slipway/result.hpp>

#include "base/write/scratch_folder.hpp"

namespace slipway::driver {

class Scratch {
 public:
  /// Creates it below parent(wanted). Errors: those of ScratchFolder::make().
  static Result<Scratch> make(const std::string& wanted);

  /// Returns the absolute folder for temporary files: `wanted`, else $TMPDIR, else /var/tmp.
  static std::string parent(const std::string& wanted);

  /// Path of a name below it.
  std::string at(const std::string& name) const { return folder_.path() + "/" + name; }

 private:
  explicit Scratch(base::ScratchFolder folder) : folder_(std::move(folder)) {}
  base::ScratchFolder folder_;
};

}  // namespace slipway::driver
