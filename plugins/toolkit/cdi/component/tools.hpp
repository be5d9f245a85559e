// SPDX-License-Identifier: Apache-2.0
// plugins/toolkit/cdi/component/tools.hpp - `slipway cdi generate | list | transform | validate`, with
// nvidia-ctk's flag names.
#pragma once

#include <string>
#include <vector>

#include <slipway/commands.hpp>

#include "toolkit/cdi/generate.hpp"

namespace slipway::toolkit {

class CdiTools final : public ToolTable {
 public:
  CdiTools();
};

/// The options of `generate`.
struct GenerateArguments {
  GenerateOptions options;
  std::string output;  ///< empty: standard output
  bool json = false;
  std::string driver_root;  ///< empty: /
  std::string dev_root;     ///< empty: the driver root
};

/// The command line of `generate`.
CommandTable generate_line();
/// Errors: `usage` for a wrong value.
Result<GenerateArguments> generate_arguments(const CommandWords& words);

/// `transform root`: reads a spec, moves the paths of the host or of containers from one root to another, and writes
/// it.
CommandTable transform_line();
Result<int> run_transform(const CommandWords& words, const Host& host, ToolIo& io);

// CDI specs as text, and as files that are replaced atomically (spec_file.cpp).

std::string spec_text(const nvidia::cdi::Spec& spec, bool json);

/// Creates missing parent folders; readers see the former file or the whole new one. Errors: those of writing, with the
/// path.
Status write_spec(const std::string& path, const nvidia::cdi::Spec& spec, bool json);

/// Returns the form of a spec: the requested one ("yaml", "json"), else by the file's name, else YAML. Errors:
/// `invalid` another word.
Result<bool> is_json(const std::string& format, const std::string& path);

}  // namespace slipway::toolkit
