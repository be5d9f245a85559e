// SPDX-License-Identifier: Apache-2.0
// artifact/unpack/unpack.hpp - unpacks one layer into a fresh folder, or leaves nothing at all.
//
// What comes out: files, folders, symbolic links and hard links inside the layer, owned by root when root unpacks,
// modes under umask 022, times from the archive. Refused: names and links that lead out, devices, FIFOs, sockets,
// setuid, setgid, file capabilities, a name twice, more bytes or entries than allowed. Other extended attributes and
// ACLs are dropped like owners are: the host's own policy decides.
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
  std::string into;                          ///< made by unpack(); an empty folder is taken as well
  std::string source;                        ///< where the layer comes from, for messages
  std::optional<std::int64_t> newest_mtime;  ///< SOURCE_DATE_EPOCH: later times become this one
  std::uint64_t max_entries = 500'000;
  bool sync = true;  ///< force it to the disk before success is reported
};

struct Unpacked {
  std::uint64_t files = 0;  ///< entries that are no folders
  std::uint64_t bytes = 0;  ///< of the files' contents
};

/// How long a layer's tar may be, in bytes: what its annotation dev.slipway.layer.size says, else 100 times its
/// compressed size (256 MiB at least); 32 GiB at most.
std::uint64_t unpacked_limit(const Descriptor& layer);

/// Unpacks `blob`. On failure `options.into` is gone.
/// Errors: `corrupt` wrong digest or size; `invalid` damaged compression or tar; `denied` it holds something that is
/// refused, with the entry's name; `conflict` the folder is not empty; `no_space`, `read_only`, `io`.
Result<Unpacked> unpack(std::unique_ptr<ByteSource> blob, const Descriptor& layer, const UnpackOptions& options,
                        const Reporter& reporter);

}  // namespace slipway::artifact
