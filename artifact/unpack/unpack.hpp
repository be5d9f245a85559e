// SPDX-License-Identifier: Apache-2.0
// artifact/unpack/unpack.hpp - unpacks one layer into a new folder, completely or not at all.
//
// The result has files, folders, symbolic links and hard links inside the layer, owned by root when root unpacks, modes
// under umask 022, times from the archive. Refused: names and links that lead out, devices, FIFOs, sockets, setuid,
// setgid, file capabilities, duplicate names, too many bytes or entries. Owners, other extended attributes and ACLs are
// dropped: the host's own policy decides.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include <slipway/result.hpp>

#include "artifact/io/byte_source.hpp"
#include "artifact/io/progress.hpp"
#include "artifact/oci/descriptor.hpp"

namespace slipway::artifact {

struct UnpackOptions {
  std::string into;                          ///< created by unpack(); may be an empty folder
  std::string source;                        ///< the layer's origin, for messages
  std::optional<std::int64_t> newest_mtime;  ///< SOURCE_DATE_EPOCH: later times are set to it
  std::uint64_t max_entries = 500'000;
  bool sync = true;  ///< syncs to the disk before reporting success
};

struct Unpacked {
  std::uint64_t files = 0;  ///< entries that are not folders
  std::uint64_t bytes = 0;  ///< total size of the files
};

/// Returns the maximum length of a layer's tar in bytes: from its annotation dev.slipway.layer.size, else 100 times its
/// compressed size (at least 256 MiB); at most 32 GiB.
std::uint64_t unpacked_limit(const Descriptor& layer);

/// Unpacks `blob`. On failure `options.into` is removed.
/// Errors: `corrupt` wrong digest or size; `invalid` damaged compression or tar; `denied` a refused entry, with its
/// name; `conflict` the folder is not empty; `no_space`, `read_only`, `io`.
Result<Unpacked> unpack(std::unique_ptr<ByteSource> blob, const Descriptor& layer, const UnpackOptions& options,
                        const Reporter& reporter);

}  // namespace slipway::artifact
