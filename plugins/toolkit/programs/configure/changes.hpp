// SPDX-License-Identifier: Apache-2.0
// plugins/toolkit/programs/configure/changes.hpp - what a plan of the component runtime makes of files, before any is
// written.
#pragma once

#include <string>
#include <vector>

#include <slipway/host.hpp>
#include <slipway/plan.hpp>
#include <slipway/result.hpp>
#include <slipway/root_dir.hpp>

#include "toolkit/programs/configure/arguments.hpp"

namespace slipway::toolkit {

struct FileChange {
  std::string path;
  std::string content;             ///< as it is to be
  std::vector<std::string> lines;  ///< what changes in it, for people; empty: it holds already
};

/// For each file that the plan is about, those of our own first, since another file may import them.
///
/// A file of our own that does not begin as ours do is somebody's: its other keys stay.
/// Errors: `invalid` a file that cannot be read as what it is, with its place; `unsupported`, `conflict` no such edit.
Result<std::vector<FileChange>> changes_of(const Plan& plan, const Host& host);

/// Writes those that change.
Status write_changes(const std::vector<FileChange>& changes, const RootDir& root);

/// The component's own plan for an engine that nobody looks for, restarts or asks: merges and files only.
/// Errors: `invalid` a file that is broken, with its place; `not_found` no runtime program where one is needed.
Result<Plan> plan_configuration(const ConfigureArguments& arguments, const Host& host);

}  // namespace slipway::toolkit
