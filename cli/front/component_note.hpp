// SPDX-License-Identifier: Apache-2.0
// cli/front/component_note.hpp - reads a plugin's note as far as the program `slipway` needs it.
#pragma once

#include <optional>
#include <string>

#include "core/loader/plugin_note.hpp"

namespace slipway::core {

struct SafeNote {
  std::string path;  ///< without links
  PluginNote note;
};

/// The note of a file that nobody else may replace and that this slipway can run. Empty: whatever is wrong is left to
/// the program for all commands, which says it in full.
std::optional<SafeNote> read_safe_note(const std::string& path, ElfKind kind);

}  // namespace slipway::core
