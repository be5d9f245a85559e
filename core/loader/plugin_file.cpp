// SPDX-License-Identifier: Apache-2.0
#include "core/loader/plugin_file.hpp"

#include <fcntl.h>

#include <slipway/regular_file.hpp>
#include <slipway/root_dir.hpp>
#include <slipway/trusted_owner.hpp>

namespace slipway::core {
Result<PluginFile> read_plugin_file(const std::string& path, ElfKind kind) {
  SLIPWAY_TRY(real_path, safe_path(path));
  SLIPWAY_TRY(fd, open_regular(real_path, O_NOFOLLOW));
  SLIPWAY_TRY(note, read_plugin_note(fd.get(), real_path, kind));
  SLIPWAY_CHECK(check_protocol(note, real_path));
  SLIPWAY_TRY(components, parse_manifests(note.manifest, real_path + "(manifest)"));
  return PluginFile{real_path,           note.plugin_version,   note.protocol_major,
                    note.protocol_minor, FileDigest(real_path), std::move(components)};
}

}  // namespace slipway::core
