// SPDX-License-Identifier: Apache-2.0
#include "artifact/unpack/tar_reader.hpp"

#include <clocale>
#include <cstring>

#include <archive.h>
#include <archive_entry.h>
#include <sys/stat.h>

namespace slipway::artifact {
namespace {

/// libarchive converts the UTF-8 of pax headers to the thread's locale, which therefore must be UTF-8 too.
class Utf8Names {
 public:
  Utf8Names() : utf8_(::newlocale(LC_CTYPE_MASK, "C.UTF-8", nullptr)) {
    if (utf8_ != nullptr) before_ = ::uselocale(utf8_);
  }
  ~Utf8Names() {
    if (utf8_ == nullptr) return;
    ::uselocale(before_);
    ::freelocale(utf8_);
  }
  Utf8Names(const Utf8Names&) = delete;
  Utf8Names& operator=(const Utf8Names&) = delete;

 private:
  locale_t utf8_;
  locale_t before_ = nullptr;
};

std::string text(const char* raw) { return raw == nullptr ? std::string() : std::string(raw); }

std::string name_of_type(mode_t type) {
  switch (type) {
    case AE_IFBLK:
      return "a block device";
    case AE_IFCHR:
      return "a character device";
    case AE_IFIFO:
      return "a FIFO";
    case AE_IFSOCK:
      return "a socket";
    default:
      return "of an unknown type";
  }
}

bool has_capabilities(archive_entry* entry) {
  archive_entry_xattr_reset(entry);
  const char* name = nullptr;
  const void* value = nullptr;
  std::size_t size = 0;
  while (archive_entry_xattr_next(entry, &name, &value, &size) == ARCHIVE_OK)
    if (name != nullptr && std::strcmp(name, "security.capability") == 0) return true;
  return false;
}

TarEntry entry_from(archive_entry* raw) {
  TarEntry entry;
  entry.name = text(archive_entry_pathname(raw));
  entry.mode = archive_entry_perm(raw);
  entry.time = {archive_entry_mtime(raw), static_cast<std::uint32_t>(archive_entry_mtime_nsec(raw))};
  entry.size = archive_entry_size_is_set(raw) != 0 ? static_cast<std::uint64_t>(archive_entry_size(raw)) : 0;
  entry.has_capabilities = has_capabilities(raw);
  if (const char* target = archive_entry_hardlink(raw); target != nullptr) {
    entry.kind = TarEntry::Kind::hard_link;
    entry.link_target = target;
    return entry;
  }
  switch (const mode_t type = archive_entry_filetype(raw)) {
    case AE_IFREG:
      entry.kind = TarEntry::Kind::file;
      break;
    case AE_IFDIR:
      entry.kind = TarEntry::Kind::directory;
      break;
    case AE_IFLNK:
      entry.kind = TarEntry::Kind::symlink;
      entry.link_target = text(archive_entry_symlink(raw));
      break;
    default:
      entry.kind_name = name_of_type(type);
  }
  return entry;
}

}  // namespace

void TarReader::Free::operator()(archive* reader) const { archive_read_free(reader); }

TarReader::TarReader(Pull pull) : pull_(std::move(pull)), reader_(archive_read_new()) {
  archive_read_support_format_tar(reader_.get());
  archive_read_support_format_empty(reader_.get());
}

TarReader::~TarReader() = default;

long TarReader::pull_chunk(archive*, void* context, const void** buffer) {
  const auto bytes = static_cast<TarReader*>(context)->pull_();
  *buffer = bytes.data();
  return static_cast<long>(bytes.size());
}

Error TarReader::damaged() const {
  return Error{.code = ErrorCode::invalid,
               .what = "it is not a well-formed tar archive: " + text(archive_error_string(reader_.get()))};
}

Result<std::optional<TarEntry>> TarReader::next() {
  const Utf8Names names;
  if (!opened_ && archive_read_open(reader_.get(), this, nullptr, pull_chunk, nullptr) != ARCHIVE_OK) return damaged();
  opened_ = true;
  archive_entry* raw = nullptr;
  const int outcome = archive_read_next_header(reader_.get(), &raw);
  if (outcome == ARCHIVE_EOF) return std::optional<TarEntry>();
  if (outcome != ARCHIVE_OK) return damaged();  // a warning too: an entry that is not completely understood is refused
  return std::optional(entry_from(raw));
}

Status TarReader::data(const std::function<Status(std::uint64_t, std::span<const std::byte>)>& piece) {
  while (true) {
    const void* bytes = nullptr;
    std::size_t size = 0;
    la_int64_t offset = 0;
    const int outcome = archive_read_data_block(reader_.get(), &bytes, &size, &offset);
    if (outcome == ARCHIVE_EOF) return {};
    if (outcome != ARCHIVE_OK) return damaged();
    SLIPWAY_CHECK(piece(static_cast<std::uint64_t>(offset), {static_cast<const std::byte*>(bytes), size}));
  }
}

}  // namespace slipway::artifact
