// SPDX-License-Identifier: Apache-2.0
// plugins/driver/build/package_build.hpp - one run of `slipway driver build`: from .deb files to a package in a layout.
#pragma once

#include <string>

#include <slipway/commands.hpp>

#include "driver/build/deb_set.hpp"
#include "driver/build/description.hpp"
#include "driver/build/options.hpp"
#include "driver/build/scratch.hpp"

namespace slipway::driver {

class PackageBuild {
 public:
  PackageBuild(BuildOptions options, ToolIo& io) : options_(std::move(options)), io_(io) {}

  /// Unpacks, compiles, checks, packs. What it printed at the end names the tags. Errors say what to do; nothing is
  /// written to the layout unless all went well.
  Status run();

 private:
  Status check_compiler_root(const Host& root) const;
  Status lay_out(const Scratch& scratch);
  Status build_modules(const Scratch& scratch);
  Result<std::string> prepare_headers(const Scratch& scratch);
  Result<Json> plan_build(const std::string& headers, const SourceTree& source);
  Status check_modules(const std::string& folder);
  Status add_licence(const std::string& source, const std::string& into) const;
  Status remember_failure(const Error& error);
  Status pack(const Scratch& scratch);

  BuildOptions options_;
  ToolIo& io_;
  std::vector<DebInfo> debs_;
  DriverDebs driver_;
  SourceTree source_;
  Built built_;
};

}  // namespace slipway::driver
