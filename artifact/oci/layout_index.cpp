// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <tuple>

#include "artifact/oci/digest.hpp"
#include "artifact/oci/json_field.hpp"
#include "artifact/oci/layout.hpp"

namespace slipway::artifact {

Status check_layout_file(std::string_view text, const std::string& path) {
  SLIPWAY_TRY(value, parse_json(text, path + "/oci-layout"));
  const std::string version = text_at(value, "imageLayoutVersion");
  if (version.starts_with("1.")) return {};
  return Error{.code = ErrorCode::unsupported,
               .what = path + " is an OCI layout of version '" + version + "'; slipway reads 1.0.0",
               .where = path};
}

Result<std::vector<TaggedRoot>> parse_layout_index(std::string_view text, const std::string& path) {
  const std::string name = path + "/index.json";
  SLIPWAY_TRY(value, parse_json(text, name));
  if (!value.is_object() || !value.contains("manifests") || !value["manifests"].is_array())
    return Error{.code = ErrorCode::invalid, .what = name + " lists no manifests", .where = path};
  std::vector<TaggedRoot> roots;
  for (const Json& item : value["manifests"]) {
    SLIPWAY_TRY(descriptor, descriptor_from_json(item, name));
    std::string tag = descriptor.annotation(annotation::kRefName);
    descriptor.annotations.erase(annotation::kRefName);
    roots.push_back({std::move(tag), std::move(descriptor)});
  }
  return roots;
}

bool TagSelection::takes(const std::string& tag) const {
  return !prefixes || tag.empty() || std::any_of(prefixes->begin(), prefixes->end(), [&](const std::string& prefix) {
    return tag.starts_with(prefix);
  });
}

Result<TaggedRoots> select_roots(const std::vector<TaggedRoot>& all, const std::string& tag,
                                 const TagSelection& selection, const std::string& source) {
  std::vector<std::string> tags;
  TaggedRoots roots;
  for (const TaggedRoot& root : all) {
    if (!root.tag.empty()) tags.push_back(root.tag);
    if (tag.empty() ? selection.takes(root.tag) : root.tag == tag)
      roots.wanted.push_back(root);
    else if (tag.empty())
      roots.unread.push_back(root.tag);
  }
  if (roots.wanted.empty() && !tag.empty()) return no_such_tag(source, tag, tags);
  std::sort(roots.wanted.begin(), roots.wanted.end(), [](const TaggedRoot& a, const TaggedRoot& b) {
    return std::tie(a.tag, a.descriptor.digest) < std::tie(b.tag, b.descriptor.digest);
  });
  std::sort(roots.unread.begin(), roots.unread.end());
  return roots;
}

}  // namespace slipway::artifact
