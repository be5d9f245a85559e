// SPDX-License-Identifier: Apache-2.0
// core/loader/plugin_note.hpp - reads slipway's ELF note (sdk/slipway/abi.h) out of a plugin file with libelf.
#pragma once

#include <cstdint>
#include <string>

#include <slipway/result.hpp>

namespace slipway::core {

struct PluginNote {
  std::uint16_t protocol_major = 0;
  std::uint16_t protocol_minor = 0;
  std::string plugin_version;
  std::string manifest;
};

/// The required type of the file. A position-independent program is a shared object as well.
enum class ElfKind { library, program };

/// Reads the note of an open file without mapping or running it. The file may contain any bytes.
/// Errors: `invalid` when it is not of that kind for this machine, has no slipway note, or a broken one.
Result<PluginNote> read_plugin_note(int fd, const std::string& path, ElfKind kind = ElfKind::library);

/// Checks that a plugin has the same major protocol and the same or an earlier minor (sdk/slipway/abi.h).
/// Errors: `unsupported`, with what to do.
Status check_protocol(const PluginNote& note, const std::string& path);

}  // namespace slipway::core
