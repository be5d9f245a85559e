// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/artifact/support/layout_maker.hpp"

#include "artifact/oci/digest.hpp"
#include "base/digest/digest.hpp"
#include "tests/unit/artifact/support/temp_dir.hpp"

namespace slipway::artifact::test {

LayoutMaker::LayoutMaker(std::string path) : path_(std::move(path)) {
  write_file(path_ + "/oci-layout", R"({"imageLayoutVersion":"1.0.0"})");
  write_file(path_ + "/index.json", R"({"schemaVersion":2,"manifests":[]})");
}

std::string LayoutMaker::blob_path(const std::string& digest) const {
  return path_ + "/blobs/sha256/" + std::string(hex_of(digest));
}

Json LayoutMaker::blob(const std::string& bytes, const std::string& media_type, const Json& annotations) {
  const std::string digest = base::digest_of(bytes);
  write_file(blob_path(digest), bytes);
  Json descriptor{{"mediaType", media_type}, {"digest", digest}, {"size", bytes.size()}};
  if (!annotations.empty()) descriptor["annotations"] = annotations;
  return descriptor;
}

Json LayoutMaker::layer(const std::string& bytes, const std::string& role) {
  return blob(bytes, kLayerType, {{annotation::kLayerRole, role}});
}

Json LayoutMaker::manifest(const std::vector<Json>& layers, const Json& annotations) {
  Json body{{"schemaVersion", 2},
            {"mediaType", media_type::kManifest},
            {"artifactType", kArtifactType},
            {"config", blob("{}", media_type::kEmpty)},
            {"layers", layers}};
  if (!annotations.empty()) body["annotations"] = annotations;
  return blob(canonical(body), media_type::kManifest);
}

Json LayoutMaker::index(const std::vector<Json>& manifests) {
  const Json body{{"schemaVersion", 2}, {"mediaType", media_type::kIndex}, {"manifests", manifests}};
  return blob(canonical(body), media_type::kIndex);
}

void LayoutMaker::list(const Json& descriptor, const std::string& tag) {
  Json root = descriptor;
  if (!tag.empty()) root["annotations"][annotation::kRefName] = tag;
  roots_.push_back(root);
  write_file(path_ + "/index.json", canonical({{"schemaVersion", 2}, {"manifests", roots_}}));
}

Json annotated(Json descriptor, const Json& annotations) {
  descriptor["annotations"].update(annotations);
  return descriptor;
}

}  // namespace slipway::artifact::test
