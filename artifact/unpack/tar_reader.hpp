// SPDX-License-Identifier: Apache-2.0
// artifact/unpack/tar_reader.hpp - reads the entries of a tar stream, with libarchive.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include <slipway/result.hpp>

#include "artifact/unpack/tree_writer.hpp"

struct archive;
struct archive_entry;

namespace slipway::artifact {

/// One entry's header.
struct TarEntry {
  enum class Kind { file, directory, symlink, hard_link, other };
  Kind kind = Kind::other;
  std::string name;         ///< unchanged from the archive
  std::string link_target;  ///< of symbolic and hard links
  std::string kind_name;    ///< of `other`: "a block device"
  std::uint64_t size = 0;   ///< of a file, in bytes, including holes
  std::uint32_t mode = 0;   ///< permission bits with setuid, setgid and sticky
  EntryTime time;
  bool has_capabilities = false;  ///< a security.capability attribute
};

/// Reads tar (ustar, GNU, pax) from chunks. Passes data on in place, without copying.
class TarReader {
 public:
  /// Returns the next chunk, valid until the next call; an empty one at the end.
  using Pull = std::function<std::span<const std::byte>()>;
  explicit TarReader(Pull pull);
  ~TarReader();

  /// Returns the next header; nothing after the last entry. Errors: `invalid` when the stream is not a tar or damaged.
  Result<std::optional<TarEntry>> next();

  /// Passes each piece of the present entry's data to `piece`, with its offset in the file.
  Status data(const std::function<Status(std::uint64_t offset, std::span<const std::byte>)>& piece);

 private:
  struct Free {
    void operator()(archive* reader) const;
  };
  static long pull_chunk(archive*, void* context, const void** buffer);
  Error damaged() const;

  Pull pull_;
  std::unique_ptr<archive, Free> reader_;
  bool opened_ = false;
};

}  // namespace slipway::artifact
