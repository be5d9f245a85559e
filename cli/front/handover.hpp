// SPDX-License-Identifier: Apache-2.0
// cli/front/handover.hpp - what program goes on in the place of this one: the note of a plugin file, and exec.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <slipway/error.hpp>

#include "core/loader/plugin_note.hpp"

namespace slipway::core {

/// Replaces this program. @param words  its arguments, its own name first
/// @return only when that failed
Error become(const std::string& program, const std::vector<std::string>& words);

struct SafeNote {
  std::string path;  ///< without links
  PluginNote note;
};

/// The note of a file that nobody else may replace and that this slipway can run. Empty: whatever is wrong is left to
/// the program for all commands, which says it in full.
std::optional<SafeNote> read_safe_note(const std::string& path, ElfKind kind);

/// The one plugin of a folder that holds the component. Empty: none does, or several, of which slipway itself tells.
std::optional<SafeNote> find_holder(const std::string& folder, const std::string& component);

}  // namespace slipway::core
