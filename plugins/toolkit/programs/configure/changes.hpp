// SPDX-License-Identifier: Apache-2.0
// plugins/toolkit/programs/configure/changes.hpp - the new contents of the files that a plan of the component
// runtime would change; nothing is written unless asked for.
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
  std::string content;             ///< the new content
  std::vector<std::string> lines;  ///< description of the changes; empty: none are needed
};

/// Returns a change for each file of the plan, slipway's own files first, because other files may import them.
///
/// If a file in slipway's place lacks slipway's first line, it belongs to the user: its other keys stay. Errors:
/// `invalid` a file with invalid syntax, with its place; `unsupported`, `conflict` no such edit.
Result<std::vector<FileChange>> changes_of(const Plan& plan, const Host& host);

/// Writes the files that change.
Status write_changes(const std::vector<FileChange>& changes, const RootDir& root);

/// Returns the component's plan without looking for the engine, restarting or asking it: merges and files only. Errors:
/// `invalid` an invalid file, with its place; `not_found` no runtime program where one is needed.
Result<Plan> plan_configuration(const ConfigureArguments& arguments, const Host& host);

}  // namespace slipway::toolkit
