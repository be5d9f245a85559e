// SPDX-License-Identifier: Apache-2.0
// artifact/unpack/decoder.hpp - zstd, gzip and xz streams, from one chunk pipe into another.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include <slipway/result.hpp>

#include "artifact/unpack/chunk_pipe.hpp"

namespace slipway::artifact {

enum class Compression { none, zstd, gzip, xz };

std::string_view to_string(Compression compression);

/// What the first bytes of a blob say; media types are wrong too often to go by. `none` when nothing is recognised.
Compression compression_of(std::span<const std::byte> head);

/// Decodes all of `input` into `output` and finishes it. `first` are bytes already taken from `input`, still held by
/// it. Errors go into `output`: `invalid` when the stream is damaged or cut short, or when more than `limit` bytes come
/// out.
void decode(Compression compression, std::span<const std::byte> first, ChunkPipe& input, ChunkPipe& output,
            std::uint64_t limit);

}  // namespace slipway::artifact
