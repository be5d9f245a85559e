// SPDX-License-Identifier: Apache-2.0
// sdk/slipway/importer.hpp - reads a component's own section of a foreign kind, such as the GPU Operator's
// ClusterPolicy.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <slipway/json.hpp>
#include <slipway/result.hpp>

namespace slipway {

class Importer {
 public:
  virtual ~Importer() = default;

  struct Section {
    Json spec;                          ///< the equivalent spec of the component; null: the document does not want it
    std::vector<std::string> warnings;  ///< keys that have no counterpart, each by name
  };
  /// @param api_version,kind  of the whole foreign document ("nvidia.com/v1", "ClusterPolicy")
  /// Errors: `unsupported` for an unknown kind.
  virtual Result<Section> import(std::string_view api_version, std::string_view kind, const Json& document) const = 0;
};

}  // namespace slipway
