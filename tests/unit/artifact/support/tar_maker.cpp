// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/artifact/support/tar_maker.hpp"

#include <array>
#include <cstdio>
#include <cstring>
#include <memory>
#include <stdexcept>

#include <archive.h>
#include <archive_entry.h>

namespace slipway::artifact::test {
namespace {

constexpr std::size_t kBlock = 512;

void put(std::array<char, kBlock>& block, std::size_t at, std::size_t width, const std::string& text) {
  std::memcpy(block.data() + at, text.data(), std::min(width, text.size()));
}

std::string octal(std::uint64_t value, int width) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%0*llo", width, static_cast<unsigned long long>(value));
  return text.data();
}

std::string padded(std::string content) {
  content.resize((content.size() + kBlock - 1) / kBlock * kBlock, '\0');
  return content;
}

std::string block_of(const TarHeader& entry, std::size_t size) {
  std::array<char, kBlock> block{};
  put(block, 0, 100, entry.name);
  put(block, 100, 8, octal(entry.mode, 7));
  put(block, 108, 8, octal(1000, 7));  // an owner that must not be applied
  put(block, 116, 8, octal(1000, 7));
  put(block, 124, 12, octal(size, 11));
  put(block, 136, 12, octal(entry.mtime, 11));
  put(block, 148, 8, "        ");
  block[156] = entry.type;
  put(block, 157, 100, entry.link);
  put(block, 257, 8, std::string("ustar\00000", 8));
  if (entry.type == '3' || entry.type == '4') {
    put(block, 329, 8, octal(1, 7));
    put(block, 337, 8, octal(3, 7));
  }
  unsigned sum = 0;
  for (const char letter : block) sum += static_cast<unsigned char>(letter);
  put(block, 148, 8, octal(sum, 6) + std::string("\0 ", 2));
  return {block.data(), block.size()};
}

std::string pax_record(const std::string& key, const std::string& value) {
  const std::string rest = " " + key + "=" + value + "\n";
  std::size_t length = rest.size();
  while (std::to_string(length).size() + rest.size() != length) length = std::to_string(length).size() + rest.size();
  return std::to_string(length) + rest;
}

la_ssize_t append(archive*, void* text, const void* bytes, std::size_t size) {
  static_cast<std::string*>(text)->append(static_cast<const char*>(bytes), size);
  return static_cast<la_ssize_t>(size);
}

struct FreeWriter {
  void operator()(archive* writer) const { archive_write_free(writer); }
};
struct FreeEntry {
  void operator()(archive_entry* entry) const { archive_entry_free(entry); }
};

}  // namespace

std::string tar_of(const std::vector<TarHeader>& entries, bool ended) {
  std::string tar;
  for (const TarHeader& entry : entries) {
    std::string records;
    for (const auto& [key, value] : entry.pax) records += pax_record(key, value);
    if (!records.empty()) tar += block_of({.name = "pax", .type = 'x'}, records.size()) + padded(records);
    tar += block_of(entry, entry.content.size()) + padded(entry.content);
  }
  return ended ? tar + std::string(2 * kBlock, '\0') : tar;
}

std::string compress(const std::string& bytes, Compression compression) {
  if (compression == Compression::none) return bytes;
  std::string packed;
  const std::unique_ptr<archive, FreeWriter> writer(archive_write_new());
  const int code = compression == Compression::zstd   ? ARCHIVE_FILTER_ZSTD
                   : compression == Compression::gzip ? ARCHIVE_FILTER_GZIP
                                                      : ARCHIVE_FILTER_XZ;
  archive_write_add_filter(writer.get(), code);
  archive_write_set_format_raw(writer.get());
  archive_write_set_bytes_in_last_block(writer.get(), 1);
  archive_write_open(writer.get(), &packed, nullptr, append, nullptr);
  const std::unique_ptr<archive_entry, FreeEntry> entry(archive_entry_new());
  archive_entry_set_pathname(entry.get(), "data");
  archive_entry_set_filetype(entry.get(), AE_IFREG);
  archive_write_header(writer.get(), entry.get());
  archive_write_data(writer.get(), bytes.data(), bytes.size());
  if (archive_write_close(writer.get()) != ARCHIVE_OK) throw std::runtime_error(archive_error_string(writer.get()));
  return packed;
}

}  // namespace slipway::artifact::test
