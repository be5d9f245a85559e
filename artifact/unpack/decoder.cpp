// SPDX-License-Identifier: Apache-2.0
#include "artifact/unpack/decoder.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <memory>
#include <optional>

#include <archive.h>
#include <zstd.h>

namespace slipway::artifact {
namespace {

constexpr std::array<std::string_view, 4> kNames{"none", "zstd", "gzip", "xz"};

Error damaged(Compression compression, const std::string& why) {
  return Error{.code = ErrorCode::invalid,
               .what = "its " + std::string(to_string(compression)) + " data is damaged: " + why};
}

/// The chunks of the input, starting with one that was already taken.
class Input {
 public:
  Input(std::span<const std::byte> first, ChunkPipe& pipe) : first_(first), pipe_(pipe) {}
  std::span<const std::byte> next() { return first_.empty() ? pipe_.next() : std::exchange(first_, {}); }
  /// Reads to the end, so that the hash covers the whole input; returns the input's own error.
  std::optional<Error> drain() {
    while (!pipe_.next().empty()) {
    }
    return pipe_.error();
  }

 private:
  std::span<const std::byte> first_;
  ChunkPipe& pipe_;
};

/// The chunks of the output, each filled completely, with a limit on their sum.
class Output {
 public:
  Output(ChunkPipe& pipe, std::uint64_t limit) : pipe_(pipe), limit_(limit) {}

  /// Returns a buffer to write to; empty when the consumer has given up.
  std::span<std::byte> room() {
    if (chunk_.empty()) chunk_ = pipe_.acquire();
    return chunk_.subspan(used_);
  }
  Status wrote(std::size_t count) {
    used_ += count;
    total_ += count;
    if (total_ > limit_)
      return Error{.code = ErrorCode::denied,
                   .what = "it exceeds the limit of " + std::to_string(limit_) + " bytes when unpacked"};
    if (used_ == chunk_.size()) flush();
    return {};
  }
  void flush() {
    if (used_ > 0) pipe_.commit(used_);
    chunk_ = {};
    used_ = 0;
  }

 private:
  ChunkPipe& pipe_;
  std::uint64_t limit_;
  std::span<std::byte> chunk_;
  std::size_t used_ = 0;
  std::uint64_t total_ = 0;
};

Status decode_zstd(Input& input, Output& output) {
  const std::unique_ptr<ZSTD_DCtx, decltype(&ZSTD_freeDCtx)> context(ZSTD_createDCtx(), &ZSTD_freeDCtx);
  if (!context) return damaged(Compression::zstd, "no memory for a decoder");
  std::size_t state = 0;  // 0: at the end of a frame
  for (auto bytes = input.next(); !bytes.empty(); bytes = input.next()) {
    ZSTD_inBuffer in{bytes.data(), bytes.size(), 0};
    bool full = false;  // the last call filled its buffer, so that the decoder may have more
    while (in.pos < in.size || (full && state != 0)) {
      const auto room = output.room();
      if (room.empty()) return {};
      ZSTD_outBuffer out{room.data(), room.size(), 0};
      state = ZSTD_decompressStream(context.get(), &out, &in);
      if (ZSTD_isError(state) != 0) return damaged(Compression::zstd, ZSTD_getErrorName(state));
      full = out.pos == out.size;
      SLIPWAY_CHECK(output.wrote(out.pos));
    }
  }
  if (state != 0) return damaged(Compression::zstd, "it is incomplete");
  return {};
}

la_ssize_t pull_input(archive*, void* context, const void** buffer) {
  const auto bytes = static_cast<Input*>(context)->next();
  *buffer = bytes.data();
  return static_cast<la_ssize_t>(bytes.size());
}

Status copy_out(std::span<const std::byte> bytes, Output& output) {
  while (!bytes.empty()) {
    const auto room = output.room();
    if (room.empty()) return {};
    const std::size_t count = std::min(room.size(), bytes.size());
    std::memcpy(room.data(), bytes.data(), count);
    SLIPWAY_CHECK(output.wrote(count));
    bytes = bytes.subspan(count);
  }
  return {};
}

// Uses one libarchive filter at a time: automatic detection would also stack filters and run programs.
Status decode_by_libarchive(Compression compression, Input& input, Output& output) {
  const std::unique_ptr<archive, decltype(&archive_read_free)> reader(archive_read_new(), &archive_read_free);
  archive_read_append_filter(reader.get(), compression == Compression::gzip ? ARCHIVE_FILTER_GZIP : ARCHIVE_FILTER_XZ);
  archive_read_support_format_raw(reader.get());
  archive_entry* entry = nullptr;
  if (archive_read_open(reader.get(), &input, nullptr, pull_input, nullptr) != ARCHIVE_OK ||
      archive_read_next_header(reader.get(), &entry) != ARCHIVE_OK)
    return damaged(compression, archive_error_string(reader.get()));
  while (true) {
    const void* data = nullptr;
    std::size_t size = 0;
    la_int64_t offset = 0;
    const int outcome = archive_read_data_block(reader.get(), &data, &size, &offset);
    if (outcome == ARCHIVE_EOF) return {};
    if (outcome != ARCHIVE_OK) return damaged(compression, archive_error_string(reader.get()));
    SLIPWAY_CHECK(copy_out({static_cast<const std::byte*>(data), size}, output));
    if (output.room().empty()) return {};
  }
}

}  // namespace

std::string_view to_string(Compression compression) { return kNames.at(static_cast<std::size_t>(compression)); }

Compression compression_of(std::span<const std::byte> head) {
  const auto begins = [head](std::string_view magic) {
    return head.size() >= magic.size() && std::memcmp(head.data(), magic.data(), magic.size()) == 0;
  };
  using namespace std::string_view_literals;
  if (begins("\x28\xb5\x2f\xfd"sv)) return Compression::zstd;
  if (begins("\x1f\x8b"sv)) return Compression::gzip;
  if (begins("\xfd"
             "7zXZ\0"sv))
    return Compression::xz;
  return Compression::none;
}

void decode(Compression compression, std::span<const std::byte> first, ChunkPipe& input, ChunkPipe& output,
            std::uint64_t limit) {
  Input in(first, input);
  Output out(output, limit);
  Status done = compression == Compression::zstd ? decode_zstd(in, out) : decode_by_libarchive(compression, in, out);
  out.flush();
  std::optional<Error> problem = in.drain();  // a wrong digest explains damaged data, not vice versa
  if (!problem && !done) problem = done.error();
  output.finish(std::move(problem));
}

}  // namespace slipway::artifact
