// SPDX-License-Identifier: Apache-2.0
#include "artifact/unpack/chunk_pipe.hpp"

namespace slipway::artifact {

ChunkPipe::ChunkPipe(std::size_t chunks, std::size_t chunk_bytes) : ring_(chunks), chunk_bytes_(chunk_bytes) {
  // Not cleared, so that pages unused by a short layer are never touched.
  for (Chunk& chunk : ring_) chunk.bytes = std::make_unique_for_overwrite<std::byte[]>(chunk_bytes_);
}

std::span<std::byte> ChunkPipe::acquire() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return given_up_ || written_ - read_ < ring_.size(); });
  if (given_up_) return {};
  return {ring_[written_ % ring_.size()].bytes.get(), chunk_bytes_};
}

void ChunkPipe::commit(std::size_t size) {
  const std::scoped_lock lock(mutex_);
  ring_[written_ % ring_.size()].size = size;
  ++written_;
  changed_.notify_all();
}

void ChunkPipe::finish(std::optional<Error> error) {
  const std::scoped_lock lock(mutex_);
  finished_ = true;
  error_ = std::move(error);
  changed_.notify_all();
}

std::span<const std::byte> ChunkPipe::next() {
  std::unique_lock lock(mutex_);
  if (taken_) {
    taken_ = false;
    ++read_;
    changed_.notify_all();
  }
  changed_.wait(lock, [this] { return written_ > read_ || finished_; });
  if (written_ == read_) return {};
  taken_ = true;
  const Chunk& chunk = ring_[read_ % ring_.size()];
  return {chunk.bytes.get(), chunk.size};
}

void ChunkPipe::give_up() {
  const std::scoped_lock lock(mutex_);
  given_up_ = true;
  changed_.notify_all();
}

}  // namespace slipway::artifact
