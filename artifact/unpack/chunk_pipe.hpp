// SPDX-License-Identifier: Apache-2.0
// artifact/unpack/chunk_pipe.hpp - passes buffers of bytes from one thread to another without copying them.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

#include <slipway/result.hpp>

namespace slipway::artifact {

/// A ring of equal buffers between one producer and one consumer. Each side blocks while the other is behind.
class ChunkPipe {
 public:
  ChunkPipe(std::size_t chunks, std::size_t chunk_bytes);

  /// Producer: returns an empty buffer to fill; an empty span once the consumer has given up.
  std::span<std::byte> acquire();
  /// Producer: `size` bytes of the acquired buffer are ready.
  void commit(std::size_t size);
  /// Producer: there is no more data; `error` is the reason when this is not the end.
  void finish(std::optional<Error> error = {});

  /// Consumer: returns the next bytes, valid until the next call; an empty span after the last ones.
  std::span<const std::byte> next();
  /// Consumer: the reason why the data ended early, after next() returned nothing.
  const std::optional<Error>& error() const { return error_; }
  /// Consumer: needs no more data; the producer's acquire() returns an empty span from now on.
  void give_up();

 private:
  struct Chunk {
    std::unique_ptr<std::byte[]> bytes;
    std::size_t size = 0;
  };
  std::vector<Chunk> ring_;
  std::size_t chunk_bytes_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::size_t written_ = 0;  ///< chunks committed since the start
  std::size_t read_ = 0;     ///< chunks returned since the start
  bool taken_ = false;       ///< the consumer is using chunk read_
  bool finished_ = false;
  bool given_up_ = false;
  std::optional<Error> error_;
};

}  // namespace slipway::artifact
