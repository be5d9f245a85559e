// SPDX-License-Identifier: Apache-2.0
// plugins/driver/build/kept_build.hpp - what compiling made, and its log, kept until it is packed: a later run of the
// same build takes it up.
#pragma once

#include <string>

#include <slipway/json.hpp>
#include <slipway/result.hpp>
#include <slipway/root_dir.hpp>

namespace slipway::driver {

/// A folder of the caller's alone, with a name that the next run finds again.
class KeptBuild {
 public:
  /// Makes the folder PARENT/NAME, or opens the one of an earlier run. Errors: `denied` it is somebody else's, who
  /// could have put modules of their own there; `locked` another run works in it; `io`.
  static Result<KeptBuild> open(const std::string& parent, const std::string& name);

  KeptBuild(KeptBuild&&) noexcept = default;
  KeptBuild& operator=(KeptBuild&&) = delete;
  /// Removes the folder when it is empty.
  ~KeptBuild();

  const std::string& folder() const { return folder_; }
  std::string log() const { return folder_ + "/build.log"; }
  /// The folder that takes what is compiled.
  std::string modules() const { return folder_ + "/modules"; }

  /// modules() holds all that a build of this identity makes.
  bool holds(const Json& identity) const;
  /// Notes that it does.
  Status complete(const Json& identity) const;
  /// What is there is of no use: everything but the log goes.
  void discard() const;
  /// It was packed: everything goes.
  void remove() const;

 private:
  KeptBuild(std::string folder, Fd lock) : folder_(std::move(folder)), lock_(std::move(lock)) {}
  std::string folder_;
  Fd lock_;  ///< the folder, locked; empty: moved from
};

}  // namespace slipway::driver
