// SPDX-License-Identifier: Apache-2.0
#include "artifact/pack/copy.hpp"

#include <algorithm>
#include <set>

#include "artifact/oci/json_field.hpp"
#include "artifact/oci/manifest.hpp"

namespace slipway::artifact {
namespace {

/// Completes a descriptor from the manifest itself: a descriptor may lack the type, and a registry may add parameters
/// to it.
Descriptor completed(Descriptor descriptor, const std::string& text, const Json& value) {
  const std::string told = descriptor.media_type.substr(0, descriptor.media_type.find(';'));
  const std::string own = text_at(value, "mediaType");
  const char* likely = value.contains("manifests") ? media_type::kIndex : media_type::kManifest;
  descriptor.media_type = !own.empty() ? own : (!told.empty() ? told : likely);
  descriptor.size = text.size();
  return descriptor;
}

bool is_index(const Descriptor& descriptor) {
  return descriptor.media_type == media_type::kIndex || descriptor.media_type == media_type::kDockerList;
}

/// An item that was copied under a tag, or by its digest only.
struct CopiedRoot {
  std::string tag;
  std::string digest;
  bool is_index = false;
};

/// One copy: remembers what the target already has.
class Copy {
 public:
  Copy(Origin& from, Target& to) : from_(from), to_(to) {}

  Status root(const TaggedRoot& root) {
    SLIPWAY_CHECK(manifest(root.descriptor, root.tag, 0));
    roots_.push_back({root.tag, root.descriptor.digest, indexes_.contains(root.descriptor.digest)});
    return {};
  }
  const std::vector<CopiedRoot>& roots() const { return roots_; }
  std::uint64_t bytes() const { return bytes_; }

 private:
  /// `depth` is the number of indexes above it; 0 for a root.
  Status manifest(const Descriptor& listed, const std::string& tag, std::size_t depth) {
    const bool is_new = visited_.insert(listed.digest).second;
    if (!is_new && depth > 0) return {};
    if (depth > kMaxManifestDepth || visited_.size() > kMaxManifests) return too_many_manifests(from_.name());
    auto texts = from_.manifests({listed});
    SLIPWAY_TRY(text, std::move(texts.front()));
    SLIPWAY_TRY(value, parse_json(text, listed.digest));
    const Descriptor descriptor = completed(listed, text, value);
    if (is_index(descriptor)) indexes_.insert(listed.digest);
    if (is_new) SLIPWAY_CHECK(is_index(descriptor) ? manifests_of(value, depth) : blobs_of(value));
    SLIPWAY_CHECK(to_.put_manifest(descriptor, text, tag));
    return depth == 0 && tag.empty() ? to_.list(descriptor) : Status{};
  }

  Status manifests_of(const Json& index, std::size_t depth) {
    for (const Json& item : array_at(index, "manifests")) {
      SLIPWAY_TRY(child, descriptor_from_json(item, "manifests"));
      SLIPWAY_CHECK(manifest(child, "", depth + 1));
    }
    return {};
  }

  Status blobs_of(const Json& manifest) {
    Json list = array_at(manifest, "layers");
    if (manifest.contains("config")) list.push_back(manifest["config"]);
    for (const Json& item : list) {
      SLIPWAY_TRY(blob, descriptor_from_json(item, "layers"));
      if (!seen_.insert(blob.digest).second) continue;
      SLIPWAY_TRY(existing, to_.has(blob));
      if (existing) continue;
      SLIPWAY_CHECK(to_.put_blob(blob, from_));
      bytes_ += blob.size;
    }
    return {};
  }

  Origin& from_;
  Target& to_;
  std::set<std::string> visited_;  ///< manifests and indexes, so that each is copied only once
  std::set<std::string> seen_;     ///< blobs
  std::set<std::string> indexes_;
  std::vector<CopiedRoot> roots_;
  std::uint64_t bytes_ = 0;
};

/// Returns the best digest to pin: the last index, which lists everything of its version; else the last manifest.
std::string digest_to_pin(const std::vector<CopiedRoot>& roots) {
  const auto index = std::find_if(roots.rbegin(), roots.rend(), [](const CopiedRoot& root) { return root.is_index; });
  return index == roots.rend() ? roots.back().digest : index->digest;
}

Result<Json> copy_roots(Origin& from, Target& to, const std::vector<TaggedRoot>& roots) {
  for (const TaggedRoot& root : roots)
    if (!root.tag.empty()) SLIPWAY_CHECK(to.accepts(root.tag, from.name()));
  Copy copy(from, to);
  for (const TaggedRoot& root : roots) SLIPWAY_CHECK(copy.root(root));
  SLIPWAY_CHECK(to.finish());
  Json tags = Json::array();
  Json listed = Json::array();
  for (const CopiedRoot& root : copy.roots()) {
    if (!root.tag.empty()) tags.push_back(root.tag);
    listed.push_back({{"tag", root.tag}, {"digest", root.digest}, {"index", root.is_index}});
  }
  return Json{{"digest", digest_to_pin(copy.roots())}, {"tags", tags}, {"roots", listed}, {"bytes", copy.bytes()}};
}

}  // namespace

Result<Json> copy_digest(Origin& from, Target& to, const std::string& digest, const std::vector<std::string>& tags) {
  std::vector<TaggedRoot> roots;
  for (const std::string& tag : tags.empty() ? std::vector<std::string>{""} : tags)
    roots.push_back({tag, Descriptor{.digest = digest}});
  return copy_roots(from, to, roots);
}

Result<Json> copy_tags(Origin& from, Target& to, const std::vector<std::string>& tags) {
  std::vector<TaggedRoot> roots;
  for (const std::string& tag : tags.empty() ? std::vector<std::string>{""} : tags) {
    SLIPWAY_TRY(found, from.roots(tag, {}));
    roots.insert(roots.end(), found.wanted.begin(), found.wanted.end());
  }
  std::erase_if(roots, [](const TaggedRoot& root) { return root.tag.empty(); });
  if (roots.empty())
    return Error{.code = ErrorCode::not_found,
                 .what = from.name() + " has no package with a tag",
                 .where = from.name(),
                 .next = "build a package into it with `slipway pkg build DIR --to LAYOUT`"};
  return copy_roots(from, to, roots);
}

}  // namespace slipway::artifact
