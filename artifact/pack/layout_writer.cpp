// SPDX-License-Identifier: Apache-2.0
#include "artifact/pack/layout_writer.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <filesystem>

#include <unistd.h>

#include "artifact/io/file.hpp"
#include "artifact/oci/json_field.hpp"
#include "artifact/oci/layout.hpp"
#include "base/digest/digest.hpp"

namespace slipway::artifact {
namespace {

constexpr std::uint64_t kJsonLimit = 4 << 20;
constexpr const char* kLayoutText = R"({"imageLayoutVersion":"1.0.0"})";

bool existing(const std::string& path) {
  std::error_code code;
  return std::filesystem::exists(path, code);
}

bool has_entries(const std::string& folder) {
  std::error_code code;
  return existing(folder) && !std::filesystem::is_empty(folder, code) && !code;
}

Result<Json> open_index(const std::string& folder) {
  const bool is_layout = existing(folder + "/oci-layout");
  if (!is_layout && !existing(folder + "/index.json") && has_entries(folder))
    return Error{.code = ErrorCode::conflict,
                 .what = folder + " is not an OCI layout, and it is not empty",
                 .where = folder,
                 .next = "name a new folder, or one that is a layout"};
  if (is_layout) {
    SLIPWAY_TRY(layout, read_regular(folder + "/oci-layout", kJsonLimit));
    SLIPWAY_CHECK(check_layout_file(layout, folder));
  }
  // Writes the index first: the folder is then a layout even when the copy is interrupted.
  if (!existing(folder + "/index.json")) {
    const Json index{{"schemaVersion", 2}, {"mediaType", media_type::kIndex}, {"manifests", Json::array()}};
    if (!is_layout) SLIPWAY_CHECK(base::put_file(folder + "/oci-layout", kLayoutText));
    SLIPWAY_CHECK(base::put_file(folder + "/index.json", canonical(index)));
    return index;
  }
  if (!is_layout) SLIPWAY_CHECK(read_regular(folder + "/oci-layout", kJsonLimit));  // it is missing
  SLIPWAY_TRY(text, read_regular(folder + "/index.json", kJsonLimit));
  return parse_json(text, folder + "/index.json");
}

}  // namespace

Descriptor empty_config() {
  Descriptor config;
  config.media_type = media_type::kEmpty;
  config.digest = base::digest_of("{}");
  config.size = 2;
  return config;
}

Result<LayoutWriter> LayoutWriter::open(const std::string& folder) {
  SLIPWAY_CHECK(make_directories(folder));
  SLIPWAY_TRY(index, open_index(folder));
  SLIPWAY_CHECK(make_directories(folder + "/blobs/sha256"));
  SLIPWAY_TRY(scratch, base::ScratchFolder::make(folder, base::kNewSuffix));
  LayoutWriter writer(folder, std::move(index), std::move(scratch));
  SLIPWAY_CHECK(base::put_file(writer.blob_path(empty_config().digest), "{}"));
  return writer;
}

std::string LayoutWriter::blob_path(const std::string& digest) const {
  return folder_ + "/blobs/sha256/" + digest.substr(digest.find(':') + 1);
}

Status LayoutWriter::adopt(const std::string& file, const std::string& digest) const {
  SLIPWAY_TRY(written, open_regular(file));
  if (::fsync(written.get()) != 0) return system_error("write", file, errno);
  if (std::rename(file.c_str(), blob_path(digest).c_str()) != 0) return system_error("rename", file, errno);
  return {};
}

Result<Descriptor> LayoutWriter::add_json(const Json& value, Descriptor descriptor) const {
  const std::string text = canonical(value);
  descriptor.digest = base::digest_of(text);
  descriptor.size = text.size();
  SLIPWAY_CHECK(base::put_file(blob_path(descriptor.digest), text));
  return descriptor;
}

Status LayoutWriter::add_text(const std::string& text, const std::string& digest) const {
  return base::put_file(blob_path(digest), text);
}

bool LayoutWriter::has(const std::string& digest) const { return existing(blob_path(digest)); }

std::string LayoutWriter::tagged(const std::string& tag) const {
  for (const Json& entry : array_at(index_, "manifests"))
    if (text_at(object_at(entry, "annotations"), annotation::kRefName) == tag) return text_at(entry, "digest");
  return {};
}

Result<Json> LayoutWriter::json_blob(const std::string& digest) const {
  SLIPWAY_TRY(text, read_regular(blob_path(digest), kJsonLimit));
  return parse_json(text, digest);
}

void LayoutWriter::set_tag(const std::string& tag, const Descriptor& descriptor) {
  Json kept = Json::array();
  for (const Json& entry : array_at(index_, "manifests"))
    if (text_at(object_at(entry, "annotations"), annotation::kRefName) != tag) kept.push_back(entry);
  Json entry = to_json(descriptor);
  entry["annotations"][annotation::kRefName] = tag;
  kept.push_back(std::move(entry));
  std::sort(kept.begin(), kept.end(), [](const Json& a, const Json& b) {
    return text_at(object_at(a, "annotations"), annotation::kRefName) <
           text_at(object_at(b, "annotations"), annotation::kRefName);
  });
  index_["manifests"] = std::move(kept);
}

void LayoutWriter::list(const Descriptor& descriptor) {
  const Json listed = array_at(index_, "manifests");
  const auto is_it = [&](const Json& entry) { return text_at(entry, "digest") == descriptor.digest; };
  if (std::none_of(listed.begin(), listed.end(), is_it)) index_["manifests"].push_back(to_json(descriptor));
}

Status LayoutWriter::finish() const {
  SLIPWAY_CHECK(sync_directory(folder_ + "/blobs/sha256"));
  return base::put_file(folder_ + "/index.json", canonical(index_));
}

}  // namespace slipway::artifact
