// SPDX-License-Identifier: Apache-2.0
#include "artifact/oci/manifest.hpp"

#include "artifact/oci/digest.hpp"
#include "artifact/oci/json_field.hpp"
#include "base/digest/digest.hpp"

namespace slipway::artifact {
namespace {

Error malformed(const std::string& name, const std::string& why) {
  return Error{.code = ErrorCode::invalid, .what = name + " " + why};
}

/// Returns the media type without its parameters.
std::string bare(const std::string& type) { return type.substr(0, type.find(';')); }

bool is_index_type(const std::string& type) { return type == media_type::kIndex || type == media_type::kDockerList; }
bool is_manifest_type(const std::string& type) {
  return type == media_type::kManifest || type == media_type::kDockerManifest;
}

/// Determines the body's type: from itself, from the announced type, or from its members.
std::string type_of(const Json& body, const std::string& announced) {
  std::string own = bare(text_at(body, "mediaType"));
  if (!own.empty()) return own;
  if (!announced.empty()) return announced;
  return body.contains("manifests") ? media_type::kIndex : media_type::kManifest;
}

Status check_type(const Json& body, const std::string& type, const std::string& announced, const std::string& name) {
  if (!announced.empty() && type != announced)
    return malformed(name, "says that it is " + type + ", but was announced as " + announced);
  if (!is_index_type(type) && !is_manifest_type(type))
    return Error{.code = ErrorCode::unsupported,
                 .what = name + " is of type " + type + ", which slipway does not read"};
  // A body that can be read both ways could show one reader a package and another reader something else.
  if (body.contains("manifests") && body.contains("layers")) return malformed(name, "is both an index and a manifest");
  return {};
}

Status read_index(const Json& body, const std::string& name, Manifest& manifest) {
  if (!body.contains("manifests") || !body["manifests"].is_array()) return malformed(name, "lists no manifests");
  for (const Json& item : body["manifests"]) {
    SLIPWAY_TRY(descriptor, descriptor_from_json(item, name));
    manifest.manifests.push_back(std::move(descriptor));
  }
  return {};
}

Status read_manifest(const Json& body, const std::string& name, Manifest& manifest) {
  if (!body.contains("layers") || !body["layers"].is_array()) return malformed(name, "lists no layers");
  for (const Json& item : body["layers"]) SLIPWAY_CHECK(descriptor_from_json(item, name));
  manifest.layers = body["layers"];
  if (!body.contains("config")) return malformed(name, "has no config");
  SLIPWAY_TRY(config, descriptor_from_json(body["config"], name));
  manifest.config = body["config"];
  manifest.artifact_type = text_at(body, "artifactType");
  if (manifest.artifact_type.empty()) manifest.artifact_type = config.media_type;
  return {};
}

}  // namespace

Result<Manifest> parse_manifest(std::string_view bytes, const Descriptor& expected) {
  const std::string name = "manifest " + short_digest(expected.digest);
  SLIPWAY_TRY(body, parse_json(bytes, name));
  if (!body.is_object()) return malformed(name, "is not a JSON object");
  const std::string announced = bare(expected.media_type);
  const std::string type = type_of(body, announced);
  SLIPWAY_CHECK(check_type(body, type, announced, name));
  if (!body.contains("schemaVersion") || body["schemaVersion"] != 2)
    return malformed(name, "is not of schema version 2");
  Manifest manifest{.is_index = is_index_type(type), .media_type = type};
  for (const auto& [key, text] : object_at(body, "annotations").items())
    if (text.is_string()) manifest.annotations[key] = text;
  SLIPWAY_CHECK(manifest.is_index ? read_index(body, name, manifest) : read_manifest(body, name, manifest));
  if (manifest.is_index) manifest.artifact_type = text_at(body, "artifactType");
  return manifest;
}

Error too_many_manifests(const std::string& source) {
  return Error{.code = ErrorCode::invalid,
               .what = source + " lists more manifests than slipway reads (" + std::to_string(kMaxManifests) +
                       ", nested " + std::to_string(kMaxManifestDepth) + " deep)",
               .where = source,
               .next = "name a tag or a digest"};
}

Status check_bytes(std::string_view bytes, const Descriptor& expected, const std::string& source) {
  const auto wrong = [&](const std::string& got) {
    return Error{.code = ErrorCode::corrupt,
                 .what = "manifest " + short_digest(expected.digest) + " of " + source + " does not match its digest",
                 .where = source,
                 .next = "download or copy the package again: it was damaged in transit or on the disk",
                 .details = {{"expected", expected.digest}, {"got", got}}};
  };
  if (expected.size != 0 && bytes.size() != expected.size)
    return wrong(std::to_string(bytes.size()) + " bytes instead of " + std::to_string(expected.size));
  const std::string digest = base::digest_of(bytes);
  if (digest != expected.digest) return wrong(digest);
  return {};
}

}  // namespace slipway::artifact
