// SPDX-License-Identifier: Apache-2.0
// plugins/driver/build/scratch.hpp - a temporary folder that goes at the end of its life, whatever it holds.
#pragma once

#include <filesystem>
#include <string>
#include <utility>

#include <slipway/result.hpp>

namespace slipway::driver {

class Scratch {
 public:
  /// Below parent(wanted). Errors: those of mkdtemp(3).
  static Result<Scratch> make(const std::string& wanted);
  Scratch(Scratch&& other) noexcept : path_(std::exchange(other.path_, {})) {}
  Scratch& operator=(Scratch&&) = delete;
  ~Scratch();

  /// Where temporary things go: `wanted`, else $TMPDIR, else /var/tmp.
  static std::string parent(const std::string& wanted);

  /// Path of a name below it.
  std::string at(const std::string& name) const { return (path_ / name).string(); }

 private:
  explicit Scratch(std::filesystem::path path) : path_(std::move(path)) {}
  std::filesystem::path path_;
};

}  // namespace slipway::driver
