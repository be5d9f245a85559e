// SPDX-License-Identifier: Apache-2.0
// tests/unit/artifact/support/layout_maker.hpp - writes OCI layouts blob by blob, valid ones and faulty ones.
#pragma once

#include <string>
#include <vector>

#include <slipway/json.hpp>

#include "artifact/oci/descriptor.hpp"

namespace slipway::artifact::test {

inline constexpr char kLayerType[] = "application/vnd.slipway.layer.v1.tar+zstd";
inline constexpr char kArtifactType[] = "application/vnd.slipway.driver.v1";

class LayoutMaker {
 public:
  explicit LayoutMaker(std::string path);

  const std::string& path() const { return path_; }
  std::string blob_path(const std::string& digest) const;

  /// Stores bytes; returns a descriptor of them.
  Json blob(const std::string& bytes, const std::string& media_type, const Json& annotations = Json::object());
  Json layer(const std::string& bytes, const std::string& role);
  Json manifest(const std::vector<Json>& layers, const Json& annotations = Json::object());
  Json index(const std::vector<Json>& manifests);
  /// Lists it in index.json, with a tag when that is not empty.
  void list(const Json& descriptor, const std::string& tag);

 private:
  std::string path_;
  Json roots_ = Json::array();
};

/// Returns the descriptor with these annotations.
Json annotated(Json descriptor, const Json& annotations);

}  // namespace slipway::artifact::test
