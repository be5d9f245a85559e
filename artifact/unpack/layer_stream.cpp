// SPDX-License-Identifier: Apache-2.0
#include "artifact/unpack/layer_stream.hpp"

#include <exception>
#include <utility>

#include "base/digest/digest.hpp"

namespace slipway::artifact {
namespace {

constexpr std::size_t kCompressedChunks = 4;
constexpr std::size_t kCompressedChunkBytes = 256UL << 10;
constexpr std::size_t kPlainChunks = 5;
constexpr std::size_t kPlainChunkBytes = 1UL << 20;

Error wrong_blob(const Descriptor& layer, const std::string& what) {
  return Error{.code = ErrorCode::corrupt,
               .what = what,
               .details = {{"expected", layer.digest + ", " + std::to_string(layer.size) + " bytes"}}};
}

/// Fills the whole of `room` unless the data ends first.
Result<std::size_t> read_full(ByteSource& source, std::span<std::byte> room) {
  std::size_t used = 0;
  while (used < room.size()) {
    SLIPWAY_TRY(count, source.read(room.subspan(used)));
    if (count == 0) break;
    used += count;
  }
  return used;
}

}  // namespace

LayerStream::LayerStream(std::unique_ptr<ByteSource> blob, Descriptor layer, std::uint64_t limit)
    : blob_(std::move(blob)),
      layer_(std::move(layer)),
      limit_(limit),
      compressed_(kCompressedChunks, kCompressedChunkBytes),
      plain_(kPlainChunks, kPlainChunkBytes) {
  reader_ = std::thread([this] { read_all(); });
  first_ = compressed_.next();
  compression_ = compression_of(first_);
  if (compression_ != Compression::none) {
    decoder_ = std::thread([this] {
      try {
        decode(compression_, first_, compressed_, plain_, limit_);
      } catch (const std::exception& problem) {
        plain_.finish(Error{.what = std::string("decompressing failed: ") + problem.what()});
      }
    });
  }
}

LayerStream::~LayerStream() {
  stop_ = true;
  compressed_.give_up();
  plain_.give_up();
  reader_.join();
  if (decoder_.joinable()) decoder_.join();
}

std::span<const std::byte> LayerStream::next() {
  if (compression_ != Compression::none) return plain_.next();
  return first_.empty() ? compressed_.next() : std::exchange(first_, {});
}

Status LayerStream::finish() {
  while (!next().empty()) {
  }
  const std::optional<Error>& error = compression_ == Compression::none ? compressed_.error() : plain_.error();
  return error ? Status(*error) : Status();
}

void LayerStream::read_all() {
  try {
    compressed_.finish(read_and_hash());
  } catch (const std::exception& problem) {
    compressed_.finish(Error{.what = std::string("reading failed: ") + problem.what()});
  }
}

std::optional<Error> LayerStream::read_and_hash() {
  base::Sha256 hash;
  std::uint64_t total = 0;
  while (!stop_) {
    const auto room = compressed_.acquire();
    if (room.empty()) return {};
    auto count = read_full(*blob_, room);
    if (!count) return std::move(count).error();
    if (*count == 0) break;
    total += *count;
    if (total > layer_.size) return wrong_blob(layer_, "it is longer than it should be");
    hash.update(room.first(*count));
    compressed_.commit(*count);
  }
  if (total != layer_.size)
    return wrong_blob(layer_,
                      "it is incomplete: " + std::to_string(total) + " bytes of " + std::to_string(layer_.size));
  const std::string digest = hash.digest();
  if (digest != layer_.digest) return wrong_blob(layer_, "its content is damaged: it has the digest " + digest);
  return {};
}

}  // namespace slipway::artifact
