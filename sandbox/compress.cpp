// SPDX-License-Identifier: Apache-2.0
#include <cerrno>
#include <memory>
#include <vector>

#include <lzma.h>
#include <unistd.h>
#include <zstd.h>

#include "core/host/files.hpp"
#include "sandbox/tool.hpp"

namespace slipway::sandbox {
namespace {

constexpr std::size_t kChunkBytes = 1 << 18;
constexpr std::uint32_t kXzDictionaryBytes = 1 << 20;  // Documentation/staging/xz.rst, and scripts/Makefile.modinst
constexpr int kZstdLevel = 19;

Error failed(const std::string& path, const std::string& why) {
  return Error{ErrorCode::io, "cannot compress " + path + ": " + why, path, {}, {}};
}

/// Reads the next chunk; its size is 0 at the end.
Status read_chunk(int fd, std::vector<char>& chunk, const std::string& path) {
  chunk.resize(kChunkBytes);
  ssize_t got = 0;
  do {
    got = ::read(fd, chunk.data(), chunk.size());
  } while (got < 0 && errno == EINTR);
  if (got < 0) return system_error("read", path, errno);
  chunk.resize(static_cast<std::size_t>(got));
  return {};
}

Status xz_file(int from, int to, const std::string& path) {
  lzma_options_lzma options{};
  if (lzma_lzma_preset(&options, LZMA_PRESET_DEFAULT)) return failed(path, "liblzma has no default preset");
  options.dict_size = kXzDictionaryBytes;
  const lzma_filter filters[] = {{LZMA_FILTER_LZMA2, &options}, {LZMA_VLI_UNKNOWN, nullptr}};
  lzma_stream stream = LZMA_STREAM_INIT;
  const std::unique_ptr<lzma_stream, decltype(&lzma_end)> end(&stream, &lzma_end);
  if (lzma_stream_encoder(&stream, filters, LZMA_CHECK_CRC32) != LZMA_OK) return failed(path, "liblzma cannot start");
  std::vector<char> input;
  std::vector<char> output(kChunkBytes);
  for (bool more = true; more;) {
    SLIPWAY_CHECK(read_chunk(from, input, path));
    more = !input.empty();
    stream.next_in = reinterpret_cast<const std::uint8_t*>(input.data());
    stream.avail_in = input.size();
    lzma_ret result = LZMA_OK;
    do {
      stream.next_out = reinterpret_cast<std::uint8_t*>(output.data());
      stream.avail_out = output.size();
      result = lzma_code(&stream, more ? LZMA_RUN : LZMA_FINISH);
      if (result != LZMA_OK && result != LZMA_STREAM_END)
        return failed(path, "liblzma error " + std::to_string(result));
      SLIPWAY_CHECK(base::write_all(to, {output.data(), output.size() - stream.avail_out}, path));
    } while (stream.avail_out == 0 || (!more && result != LZMA_STREAM_END));
  }
  return {};
}

Status zstd_file(int from, int to, const std::string& path) {
  const std::unique_ptr<ZSTD_CCtx, decltype(&ZSTD_freeCCtx)> context(ZSTD_createCCtx(), &ZSTD_freeCCtx);
  ZSTD_CCtx_setParameter(context.get(), ZSTD_c_compressionLevel, kZstdLevel);
  ZSTD_CCtx_setParameter(context.get(), ZSTD_c_checksumFlag, 1);
  std::vector<char> input;
  std::vector<char> output(kChunkBytes);
  for (bool more = true; more;) {
    SLIPWAY_CHECK(read_chunk(from, input, path));
    more = !input.empty();
    ZSTD_inBuffer in{input.data(), input.size(), 0};
    std::size_t left = 0;
    do {
      ZSTD_outBuffer out{output.data(), output.size(), 0};
      left = ZSTD_compressStream2(context.get(), &out, &in, more ? ZSTD_e_continue : ZSTD_e_end);
      if (ZSTD_isError(left)) return failed(path, ZSTD_getErrorName(left));
      SLIPWAY_CHECK(base::write_all(to, {output.data(), out.pos}, path));
    } while (more ? in.pos < in.size : left != 0);
  }
  return {};
}

}  // namespace

Status compress_file(const std::string& format, int from, int to, const std::string& path) {
  if (format == "xz") return xz_file(from, to, path);
  if (format == "zstd") return zstd_file(from, to, path);
  return Error{
      ErrorCode::invalid, "'" + format + "' is not a compression that kernels support; use xz or zstd", path, {}, {}};
}

}  // namespace slipway::sandbox
