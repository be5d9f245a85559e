// SPDX-License-Identifier: Apache-2.0
// artifact/unpack/decoder.hpp - decompresses zstd, gzip and xz streams from one chunk pipe into another.
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

/// Detects the compression from the first bytes of a blob; media types are often wrong. `none` when it is unknown.
Compression compression_of(std::span<const std::byte> head);

/// Decodes all of `input` into `output` and finishes it. `first` are bytes already taken from `input`, still valid
/// there. Errors go into `output`: `invalid` when the stream is damaged or truncated, or when it has more than `limit`
/// bytes.
void decode(Compression compression, std::span<const std::byte> first, ChunkPipe& input, ChunkPipe& output,
            std::uint64_t limit);

}  // namespace slipway::artifact
