// SPDX-License-Identifier: Apache-2.0
// artifact/unpack/layer_stream.hpp - decompresses a layer's tar while checking its digest.
//
// Three threads, so that reading and hashing, decompressing, and the caller's writing overlap. Uses about 6 MiB of
// buffers besides the decoder's own window (8 MiB at zstd's usual levels).
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <thread>

#include <slipway/result.hpp>

#include "artifact/io/byte_source.hpp"
#include "artifact/oci/descriptor.hpp"
#include "artifact/unpack/chunk_pipe.hpp"
#include "artifact/unpack/decoder.hpp"

namespace slipway::artifact {

/// Reads one blob. Used by one thread at a time; the destructor stops the threads that read ahead for it.
class LayerStream {
 public:
  /// @param blob   the compressed bytes; must have the digest and size of `layer`
  /// @param limit  the maximum number of decompressed bytes
  LayerStream(std::unique_ptr<ByteSource> blob, Descriptor layer, std::uint64_t limit);
  ~LayerStream();
  LayerStream(const LayerStream&) = delete;
  LayerStream& operator=(const LayerStream&) = delete;

  /// Returns the next decompressed bytes, valid until the next call; an empty span at the end or after an error.
  std::span<const std::byte> next();

  /// Reads the rest and checks the blob.
  /// Errors: `corrupt` wrong size or digest; `invalid` damaged compression; `denied` over the limit; those of the
  /// system.
  Status finish();

 private:
  void read_all();
  std::optional<Error> read_and_hash();

  std::unique_ptr<ByteSource> blob_;
  Descriptor layer_;
  std::uint64_t limit_;
  ChunkPipe compressed_;
  ChunkPipe plain_;
  std::atomic<bool> stop_ = false;
  Compression compression_ = Compression::none;
  std::span<const std::byte> first_;
  std::thread reader_;
  std::thread decoder_;
};

}  // namespace slipway::artifact
