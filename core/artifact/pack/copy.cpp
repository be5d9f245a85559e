// SPDX-License-Identifier: Apache-2.0
#include "core/artifact/pack/copy.hpp"

#include <set>

#include "core/artifact/oci/json_field.hpp"

namespace slipway::artifact {
namespace {

bool is_index(const Descriptor& descriptor) {
  return descriptor.media_type == media_type::kIndex || descriptor.media_type == media_type::kDockerList;
}

/// One copy: remembers what is over there already.
class Copy {
 public:
  Copy(Origin& from, Target& to) : from_(from), to_(to) {}

  Status tagged(const TaggedRoot& root) { return manifest(root.descriptor, root.tag); }
  std::uint64_t bytes() const { return bytes_; }

 private:
  Status manifest(const Descriptor& descriptor, const std::string& tag) {
    auto texts = from_.manifests({descriptor});
    SLIPWAY_TRY(text, std::move(texts.front()));
    SLIPWAY_TRY(value, parse_json(text, descriptor.digest));
    if (is_index(descriptor)) {
      for (const Json& item : array_at(value, "manifests")) {
        SLIPWAY_TRY(child, descriptor_from_json(item, "manifests"));
        SLIPWAY_CHECK(manifest(child, ""));
      }
    } else {
      SLIPWAY_CHECK(blobs_of(value));
    }
    return to_.put_manifest(descriptor, text, tag);
  }

  Status blobs_of(const Json& manifest) {
    Json list = array_at(manifest, "layers");
    if (manifest.contains("config")) list.push_back(manifest["config"]);
    for (const Json& item : list) {
      SLIPWAY_TRY(blob, descriptor_from_json(item, "layers"));
      if (!seen_.insert(blob.digest).second) continue;
      SLIPWAY_TRY(there, to_.has(blob));
      if (there) continue;
      SLIPWAY_CHECK(to_.put_blob(blob, from_));
      bytes_ += blob.size;
    }
    return {};
  }

  Origin& from_;
  Target& to_;
  std::set<std::string> seen_;
  std::uint64_t bytes_ = 0;
};

}  // namespace

Result<Json> copy_tags(Origin& from, Target& to, const std::vector<std::string>& tags) {
  std::vector<TaggedRoot> roots;
  for (const std::string& tag : tags.empty() ? std::vector<std::string>{""} : tags) {
    SLIPWAY_TRY(found, from.roots(tag, ""));
    roots.insert(roots.end(), found.begin(), found.end());
  }
  std::erase_if(roots, [](const TaggedRoot& root) { return root.tag.empty(); });
  if (roots.empty())
    return Error{.code = ErrorCode::not_found,
                 .what = from.name() + " holds nothing with a tag",
                 .where = from.name(),
                 .next = "build a package into it with `slipway pkg build DIR --to LAYOUT`"};
  Copy copy(from, to);
  Json copied = Json::array();
  for (const TaggedRoot& root : roots) {
    SLIPWAY_CHECK(copy.tagged(root));
    copied.push_back(root.tag);
  }
  SLIPWAY_CHECK(to.finish());
  return Json{{"digest", roots.back().descriptor.digest}, {"tags", copied}, {"bytes", copy.bytes()}};
}

}  // namespace slipway::artifact
