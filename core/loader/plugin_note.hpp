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

/// What the file must be. A program may be one that can lie anywhere, and is then a shared object as well.
enum class ElfKind { library, program };

/// Reads the note of an open file; nothing is mapped or run. The file's bytes may be anything.
/// Errors: `invalid` when it is nothing of that kind for this machine, has no note of slipway's, or a broken one.
Result<PluginNote> read_plugin_note(int fd, const std::string& path, ElfKind kind = ElfKind::library);

/// A plugin runs under the same major and the same or a later minor (sdk/slipway/abi.h).
/// Errors: `unsupported`, saying what to do.
Status check_protocol(const PluginNote& note, const std::string& path);

}  // namespace slipway::core
