// SPDX-License-Identifier: Apache-2.0
// plugins/driver/build/kept_build.hpp - the result of compiling, and its log, kept until it is packed: a later run of
// the same build reuses it.
#pragma once

#include <string>

#include <slipway/json.hpp>
#include <slipway/result.hpp>
#include <slipway/root_dir.hpp>

namespace slipway::driver {

/// A folder that only the caller can access, with a name that the next run finds again.
class KeptBuild {
 public:
  /// Creates the folder PARENT/NAME, or opens the one of an earlier run. Errors: `denied` it belongs to another user,
  /// who could have put other modules there; `locked` another run works in it; `io`.
  static Result<KeptBuild> open(const std::string& parent, const std::string& name);

  KeptBuild(KeptBuild&&) noexcept = default;
  KeptBuild& operator=(KeptBuild&&) = delete;
  /// Removes the folder when it is empty.
  ~KeptBuild();

  const std::string& folder() const { return folder_; }
  std::string log() const { return folder_ + "/build.log"; }
  /// The folder for compiled modules.
  std::string modules() const { return folder_ + "/modules"; }

  /// True when modules() contains everything that a build of this identity creates.
  bool holds(const Json& identity) const;
  /// Records that modules() is complete.
  Status complete(const Json& identity) const;
  /// Removes everything but the log, because the contents are unusable.
  void discard() const;
  /// Removes everything, because it was packed.
  void remove() const;

 private:
  KeptBuild(std::string folder, Fd lock) : folder_(std::move(folder)), lock_(std::move(lock)) {}
  std::string folder_;
  Fd lock_;  ///< the folder, locked; empty: this object was moved from
};

}  // namespace slipway::driver
