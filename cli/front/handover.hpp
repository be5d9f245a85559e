// SPDX-License-Identifier: Apache-2.0
// cli/front/handover.hpp - replaces this program by another one: the note of a plugin file, and exec.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <slipway/error.hpp>

#include "core/loader/plugin_note.hpp"

namespace slipway::cli {

/// Replaces this program. @param words  its arguments, starting with its name
/// @return only on failure
Error become(const std::string& program, const std::vector<std::string>& words);

struct SafeNote {
  std::string path;  ///< with links resolved
  core::PluginNote note;
};

/// Returns the note of a file that no other user can replace and that this slipway can run. Empty on any error, which
/// the program for all commands then reports in full.
std::optional<SafeNote> read_safe_note(const std::string& path, core::ElfKind kind);

/// Returns the only plugin of a folder that has the component. Empty when there is none or several, which slipway
/// itself reports.
std::optional<SafeNote> find_holder(const std::string& folder, const std::string& component);

}  // namespace slipway::cli
