// SPDX-License-Identifier: Apache-2.0
// OCI layout folders: read in place, nothing is copied.
#include "artifact/oci/layout.hpp"

#include <cerrno>

#include <sys/stat.h>

#include "artifact/io/file.hpp"
#include "artifact/oci/digest.hpp"
#include "artifact/oci/manifest.hpp"

namespace slipway::artifact {
namespace {

Error missing_blob(const Descriptor& blob, const std::string& path) {
  return Error{.code = ErrorCode::not_found,
               .what = path + " lacks the blob " + describe(blob) + " that it lists",
               .where = path,
               .next = "copy the layout again, with all of its blobs"};
}

class LayoutOrigin final : public LocalOrigin {
 public:
  using LocalOrigin::LocalOrigin;

  Result<Fetched> fetch(const std::vector<Descriptor>& blobs) override {
    Fetched fetched;
    for (const Descriptor& blob : blobs) {
      struct stat existing {};
      if (::stat(path_of(blob).c_str(), &existing) != 0) return missing_blob(blob, path_);
      if (static_cast<std::uint64_t>(existing.st_size) != blob.size)
        return Error{.code = ErrorCode::corrupt,
                     .what = "layer " + describe(blob) + " of " + path_ + " has " + std::to_string(existing.st_size) +
                             " bytes instead of " + std::to_string(blob.size),
                     .where = path_of(blob),
                     .next = drop_damaged(blob)};
      fetched.blobs.push_back({blob.digest, path_of(blob)});
    }
    return fetched;
  }

  Result<std::unique_ptr<ByteSource>> open(const Descriptor& blob) override {
    auto source = open_file_source(path_of(blob));
    if (!source && source.error().code == ErrorCode::not_found) return missing_blob(blob, path_);
    return source;
  }

  std::string drop_damaged(const Descriptor&) override { return "copy the layout from its source again"; }

 private:
  std::string path_of(const Descriptor& blob) const {
    return path_ + "/blobs/sha256/" + std::string(hex_of(blob.digest));
  }
};

/// Reads a whole blob that should be a manifest.
Result<std::string> read_text(ByteSource& blob, const std::string& path) {
  std::string text(kMaxManifestBytes + 1, '\0');
  std::size_t used = 0;
  while (used < text.size()) {
    SLIPWAY_TRY(count, blob.read(std::as_writable_bytes(std::span(text)).subspan(used)));
    if (count == 0) break;
    used += count;
  }
  if (used > kMaxManifestBytes)
    return Error{.code = ErrorCode::invalid, .what = "a manifest in " + path + " is longer than 4 MiB", .where = path};
  text.resize(used);
  return text;
}

}  // namespace

Result<TaggedRoots> LocalOrigin::roots(const std::string& tag, const TagSelection& selection) {
  return select_roots(roots_, tag, selection, path_);
}

std::vector<Result<std::string>> LocalOrigin::manifests(const std::vector<Descriptor>& wanted) {
  std::vector<Result<std::string>> texts;
  for (const Descriptor& descriptor : wanted) texts.push_back(manifest(descriptor));
  return texts;
}

Result<std::string> LocalOrigin::manifest(const Descriptor& descriptor) {
  SLIPWAY_TRY(blob, open(descriptor));
  SLIPWAY_TRY(text, read_text(*blob, path_));
  SLIPWAY_CHECK(check_bytes(text, descriptor, path_));
  return text;
}

Result<std::unique_ptr<Origin>> open_layout(const std::string& path) {
  auto marker = read_regular(path + "/oci-layout", kMaxManifestBytes);
  if (!marker && marker.error().code == ErrorCode::not_found)
    return Error{.code = ErrorCode::invalid,
                 .what = path + " is not an OCI layout: it has no file oci-layout",
                 .where = path,
                 .next = "name the folder that `slipway pkg build` or `slipway pkg pull` made"};
  if (!marker) return std::move(marker).error();
  SLIPWAY_CHECK(check_layout_file(*marker, path));
  SLIPWAY_TRY(index, read_regular(path + "/index.json", kMaxManifestBytes));
  SLIPWAY_TRY(roots, parse_layout_index(index, path));
  return std::unique_ptr<Origin>(std::make_unique<LayoutOrigin>(path, std::move(roots)));
}

Result<std::unique_ptr<Origin>> open_local(const Source& source) {
  const std::string& path = source.repository;
  if (!path.starts_with('/'))
    return Error{.code = ErrorCode::invalid,
                 .what = "'" + path + "' is neither oci://HOST[:PORT]/NAME nor an absolute path",
                 .where = "repository"};
  struct stat existing {};
  if (::stat(path.c_str(), &existing) != 0) {
    Error error = system_error("open the artifact source", path, errno);
    if (error.next.empty()) error.next = "name an existing OCI layout folder or bundle";
    return error;
  }
  if (S_ISDIR(existing.st_mode)) return open_layout(path);
  SLIPWAY_CHECK(open_regular(path));  // libarchive would block on a FIFO
  return open_bundle(path);
}

}  // namespace slipway::artifact
