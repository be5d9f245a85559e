// SPDX-License-Identifier: Apache-2.0
#include "core/artifact/oci/layout_index.hpp"

#include <algorithm>
#include <tuple>

#include "core/artifact/oci/json_field.hpp"
#include "core/artifact/oci/nearest.hpp"

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

Result<std::vector<TaggedRoot>> select_roots(std::vector<TaggedRoot> all, const std::string& tag,
                                             const std::string& prefix, const std::string& source) {
  std::vector<std::string> tags;
  for (const TaggedRoot& root : all)
    if (!root.tag.empty()) tags.push_back(root.tag);
  std::erase_if(all,
                [&](const TaggedRoot& root) { return tag.empty() ? !root.tag.starts_with(prefix) : root.tag != tag; });
  if (all.empty() && !tag.empty()) return no_such_tag(source, tag, tags);
  std::sort(all.begin(), all.end(), [](const TaggedRoot& a, const TaggedRoot& b) {
    return std::tie(a.tag, a.descriptor.digest) < std::tie(b.tag, b.descriptor.digest);
  });
  return all;
}

}  // namespace slipway::artifact
