// SPDX-License-Identifier: Apache-2.0
// plugins/driver/build/package_build.hpp - one run of `slipway driver build`: from .deb files to a package in a layout.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <slipway/commands.hpp>

#include "driver/build/deb_set.hpp"
#include "driver/build/description.hpp"
#include "driver/build/kept_build.hpp"
#include "driver/build/options.hpp"
#include "driver/build/scratch.hpp"
#include "driver/detect/kernel_config.hpp"

namespace slipway::driver {

class PackageBuild {
 public:
  PackageBuild(BuildOptions options, ToolIo& io) : options_(std::move(options)), io_(io) {}

  /// Checks, unpacks, compiles and packs, and prints the tags at the end. Errors have the remedy. The layout is written
  /// only after success; until then compiled modules are kept for the next run.
  Status run();

 private:
  Status choose_inputs();
  Status check_inputs(const Host& root);
  Status check_compiler_root(const Host& root) const;
  Status prepare_headers(const Scratch& scratch, const Host& root);
  Status lay_out(const Scratch& scratch);
  Status list_gpus(const Scratch& scratch);
  Result<KeptBuild> keep() const;
  Status build_modules(const Scratch& scratch, const KeptBuild& kept);
  Status compile(const Scratch& scratch, const KeptBuild& kept, const Json& build);
  Json plan_build(const Host& root) const;
  Result<Json> identity_of(const Json& build) const;
  Status check_modules(const std::string& folder);
  Status record_fit(const std::string& name, const std::string& elf);
  Status add_licence(const std::string& source, const std::string& into) const;
  Status remember_failure(const Error& error);
  Status pack(const Scratch& scratch);
  void print_summary(const Json& packed) const;

  BuildOptions options_;
  ToolIo& io_;
  std::vector<DebInfo> debs_;
  DriverDebs driver_;
  std::vector<DebInfo> header_debs_;     ///< empty: --headers, or no kernel
  std::string headers_;                  ///< their folder tree
  std::optional<KernelHeaders> kernel_;  ///< the contents of the headers
  SourceTree source_;
  std::vector<std::string> left_out_;
  Built built_;
};

/// Runs the tool.
Result<int> run_build(const CommandWords& words, const Host& host, ToolIo& io);

}  // namespace slipway::driver
