// SPDX-License-Identifier: Apache-2.0
// Bundles: a tar file of an OCI layout. Each access walks the headers, which costs one seek per blob.
#include <algorithm>
#include <filesystem>
#include <map>
#include <optional>

#include <archive.h>
#include <archive_entry.h>

#include "artifact/io/entry_rules.hpp"
#include "artifact/oci/digest.hpp"
#include "artifact/oci/layout.hpp"
#include "artifact/oci/manifest.hpp"

namespace slipway::artifact {
namespace {

constexpr std::size_t kReadBytes = 256UL << 10;

struct FreeArchive {
  void operator()(archive* reader) const { archive_read_free(reader); }
};
using Reader = std::unique_ptr<archive, FreeArchive>;

Error damaged(archive* reader, const std::string& path) {
  const char* why = archive_error_string(reader);
  return Error{
      .code = ErrorCode::invalid,
      .what = path + " is not a bundle: " + (why != nullptr ? why : "it is not a tar file"),
      .where = path,
      .next = "name an uncompressed tar file of an OCI layout, as `slipway pkg pull SOURCE --to FILE.tar` writes it"};
}

std::string member_name(archive_entry* entry) {
  const char* raw = archive_entry_pathname(entry);
  std::string name = raw != nullptr ? raw : "";
  return name.starts_with("./") ? name.substr(2) : name;
}

Result<Reader> open_tar(const std::string& path) {
  Reader reader(archive_read_new());
  archive_read_support_format_tar(reader.get());
  if (archive_read_open_filename(reader.get(), path.c_str(), kReadBytes) != ARCHIVE_OK)
    return damaged(reader.get(), path);
  return reader;
}

/// Returns the error for a sparse member: a few bytes of it could stand for terabytes, and no layout needs one.
Error sparse(const std::string& member, const std::string& path) {
  return Error{.code = ErrorCode::invalid,
               .what = "the member " + printable(member) + " of " + path + " is packed as a sparse file",
               .where = path,
               .next = "pack the layout without holes: `tar -C LAYOUT -cf FILE.tar .`"};
}

/// Returns the next member's name; nothing after the last one.
Result<std::optional<std::string>> next_member(archive* reader, const std::string& path, std::uint64_t& size) {
  archive_entry* entry = nullptr;
  const int outcome = archive_read_next_header(reader, &entry);
  if (outcome == ARCHIVE_EOF) return std::optional<std::string>();
  if (outcome != ARCHIVE_OK) return damaged(reader, path);
  if (archive_entry_sparse_count(entry) > 0) return sparse(member_name(entry), path);
  size = archive_entry_size_is_set(entry) != 0 ? static_cast<std::uint64_t>(archive_entry_size(entry)) : 0;
  return std::optional(member_name(entry));
}

/// One member of the tar file, read in place.
class MemberSource final : public ByteSource {
 public:
  MemberSource(Reader reader, std::string path) : reader_(std::move(reader)), path_(std::move(path)) {}

  Result<std::size_t> read(std::span<std::byte> into) override {
    const la_ssize_t count = archive_read_data(reader_.get(), into.data(), into.size());
    if (count < 0) return damaged(reader_.get(), path_);
    return static_cast<std::size_t>(count);
  }

 private:
  Reader reader_;
  std::string path_;
};

class BundleOrigin final : public LocalOrigin {
 public:
  BundleOrigin(std::string path, std::map<std::string, std::uint64_t> sizes, std::vector<TaggedRoot> roots)
      : LocalOrigin(std::move(path), std::move(roots)), sizes_(std::move(sizes)) {}

  Result<Fetched> fetch(const std::vector<Descriptor>& blobs) override {
    Fetched fetched;
    for (const Descriptor& blob : blobs) {
      SLIPWAY_CHECK(check_member(blob));
      fetched.blobs.push_back({blob.digest, path_});
    }
    return fetched;
  }

  Result<std::unique_ptr<ByteSource>> open(const Descriptor& blob) override {
    SLIPWAY_CHECK(check_member(blob));
    SLIPWAY_TRY(reader, open_tar(path_));
    const std::string wanted = name_of(blob);
    for (std::uint64_t size = 0;;) {
      SLIPWAY_TRY(member, next_member(reader.get(), path_, size));
      if (member == wanted)
        return std::unique_ptr<ByteSource>(std::make_unique<MemberSource>(std::move(reader), path_));
      if (!member) return missing(blob);
    }
  }

  std::string drop_damaged(const Descriptor&) override { return "copy the bundle from its source again"; }

 private:
  static std::string name_of(const Descriptor& blob) { return "blobs/sha256/" + std::string(hex_of(blob.digest)); }

  Error missing(const Descriptor& blob) const {
    return Error{.code = ErrorCode::not_found,
                 .what = "bundle " + path_ + " lacks the blob " + describe(blob) + " that it lists",
                 .where = path_,
                 .next = "make the bundle again, with all blobs of the layout"};
  }

  Status check_member(const Descriptor& blob) const {
    const auto found = sizes_.find(name_of(blob));
    if (found == sizes_.end()) return missing(blob);
    if (blob.size == 0 || found->second == blob.size) return {};
    return Error{.code = ErrorCode::corrupt,
                 .what = "blob " + describe(blob) + " of bundle " + path_ + " has " + std::to_string(found->second) +
                         " bytes instead of " + std::to_string(blob.size),
                 .where = path_,
                 .next = "copy the bundle from its source again"};
  }

  std::map<std::string, std::uint64_t> sizes_;
};

}  // namespace

Result<std::unique_ptr<Origin>> open_bundle(const std::string& path) {
  SLIPWAY_TRY(reader, open_tar(path));
  std::error_code unknown;
  const std::uint64_t whole = std::filesystem::file_size(path, unknown);
  std::map<std::string, std::uint64_t> sizes;
  std::map<std::string, std::string> texts;
  for (std::uint64_t size = 0;;) {
    SLIPWAY_TRY(member, next_member(reader.get(), path, size));
    if (!member) break;
    if (size > whole) return sparse(*member, path);  // a single hole is not counted as a sparse piece
    sizes[*member] = size;
    if (member != "oci-layout" && member != "index.json") continue;
    std::string text(std::min(size, kMaxManifestBytes), '\0');
    const la_ssize_t count = archive_read_data(reader.get(), text.data(), text.size());
    if (count < 0) return damaged(reader.get(), path);
    text.resize(static_cast<std::size_t>(count));
    texts[*member] = std::move(text);
  }
  if (!texts.contains("oci-layout") || !texts.contains("index.json"))
    return Error{.code = ErrorCode::invalid,
                 .what = path + " is not a bundle: it has no oci-layout and index.json at its top",
                 .where = path,
                 .next = "name a tar file of an OCI layout, as `slipway pkg pull SOURCE --to FILE.tar` writes it"};
  SLIPWAY_CHECK(check_layout_file(texts["oci-layout"], path));
  SLIPWAY_TRY(roots, parse_layout_index(texts["index.json"], path));
  return std::unique_ptr<Origin>(std::make_unique<BundleOrigin>(path, std::move(sizes), std::move(roots)));
}

}  // namespace slipway::artifact
