// SPDX-License-Identifier: Apache-2.0
// plugins/driver/build/scratch.hpp - a temporary folder that is removed at the end of its life, with everything in it.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <string>
#include <utility>

#include <slipway/result.hpp>

#include "base/write/scratch_folder.hpp"

namespace slipway::driver {

class Scratch {
 public:
  /// Creates it below parent(wanted). Errors: those of ScratchFolder::make().
  static Result<Scratch> make(const std::string& wanted) {
    SLIPWAY_TRY(folder, base::ScratchFolder::make(parent(wanted), "slipway-driver"));
    return Scratch(std::move(folder));
  }

  /// Returns the absolute folder for temporary files: `wanted`, else $TMPDIR, else /var/tmp.
  static std::string parent(const std::string& wanted) {
    if (!wanted.empty()) return wanted;
    const char* set = std::getenv("TMPDIR");
    return set != nullptr && *set != '\0' ? std::filesystem::absolute(set).string() : "/var/tmp";
  }

  /// Path of a name below it.
  std::string at(const std::string& name) const { return folder_.path() + "/" + name; }

 private:
  explicit Scratch(base::ScratchFolder folder) : folder_(std::move(folder)) {}
  base::ScratchFolder folder_;
};

}  // namespace slipway::driver
