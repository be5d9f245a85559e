// SPDX-License-Identifier: Apache-2.0
// tests/unit/plugins/driver/compressed.hpp - bytes packed with one of libarchive's filters, as `xz FILE` would do it.
#pragma once

#include <stdexcept>
#include <string>

#include <archive.h>
#include <archive_entry.h>

namespace slipway::driver::testing {

/// @param filter  "xz", "zstd" or "gzip"
inline std::string compressed(const std::string& bytes, const char* filter) {
  std::string out(bytes.size() * 2 + 4096, '\0');
  std::size_t used = 0;
  archive* writer = archive_write_new();
  archive_entry* entry = archive_entry_new();
  archive_entry_set_filetype(entry, AE_IFREG);
  const bool good = archive_write_add_filter_by_name(writer, filter) == ARCHIVE_OK &&
                    archive_write_set_format_raw(writer) == ARCHIVE_OK &&
                    archive_write_open_memory(writer, out.data(), out.size(), &used) == ARCHIVE_OK &&
                    archive_write_header(writer, entry) == ARCHIVE_OK &&
                    archive_write_data(writer, bytes.data(), bytes.size()) == static_cast<la_ssize_t>(bytes.size()) &&
                    archive_write_close(writer) == ARCHIVE_OK;
  archive_entry_free(entry);
  archive_write_free(writer);
  if (!good) throw std::runtime_error(std::string("cannot pack with ") + filter);
  out.resize(used);
  return out;
}

}  // namespace slipway::driver::testing
