// SPDX-License-Identifier: Apache-2.0
#include "artifact/oci/descriptor.hpp"

#include "artifact/oci/digest.hpp"
#include "artifact/oci/json_field.hpp"

namespace slipway::artifact {

std::string Descriptor::annotation(const char* key) const { return text_at(annotations, key); }

Json to_json(const Descriptor& descriptor) {
  Json value{{"mediaType", descriptor.media_type}, {"digest", descriptor.digest}, {"size", descriptor.size}};
  if (!descriptor.annotations.empty()) value["annotations"] = descriptor.annotations;
  if (!descriptor.artifact_type.empty()) value["artifactType"] = descriptor.artifact_type;
  return value;
}

Result<Descriptor> descriptor_from_json(const Json& value, const std::string& what) {
  Descriptor descriptor;
  descriptor.media_type = text_at(value, "mediaType");
  descriptor.digest = text_at(value, "digest");
  descriptor.artifact_type = text_at(value, "artifactType");
  if (!is_digest(descriptor.digest))
    return Error{.code = ErrorCode::invalid,
                 .what = what + ": '" + descriptor.digest + "' is not a digest: expected sha256: and 64 hex digits"};
  if (!value.contains("size") || !value["size"].is_number_unsigned())
    return Error{.code = ErrorCode::invalid,
                 .what = what + ": the descriptor of " + descriptor.digest + " has no size"};
  descriptor.size = value["size"].get<std::uint64_t>();
  for (const auto& [key, text] : object_at(value, "annotations").items())
    if (text.is_string()) descriptor.annotations[key] = text;
  return descriptor;
}

std::string describe(const Descriptor& descriptor) {
  std::string name = descriptor.annotation(annotation::kLayerRole);
  if (name.empty()) name = descriptor.annotation(annotation::kTitle);
  return name.empty() ? short_digest(descriptor.digest) : "'" + name + "' (" + short_digest(descriptor.digest) + ")";
}

}  // namespace slipway::artifact
