// SPDX-License-Identifier: Apache-2.0
// plugins/gfd/cluster_sink.hpp - labels as objects of a cluster: a NodeFeature, for Node Feature Discovery, or the
// labels of the Node itself, without Node Feature Discovery.
//
// A client of an API server implements ClusterDoor; gfd itself does not use the network.
#pragma once

#include <set>
#include <string>

#include <slipway/json.hpp>

#include "gfd/service.hpp"

namespace slipway::gfd {

/// nfd.k8s-sigs.io/v1alpha1, "nvidia-features-for-NODE", in the form of gpu-feature-discovery, without owners.
/// @param name_space  empty: set by the client that creates it
Json node_feature_object(const Labels& labels, const std::string& node, const std::string& name_space);

/// Returns a JSON merge patch (RFC 7386) of a Node: sets its labels to these, and removes labels of `former` that are
/// not among them. The annotation kOwnLabels keeps the keys for the next time.
Json node_labels_patch(const Labels& labels, const std::set<std::string>& former);

/// The annotation of a Node with the keys of gfd's labels, separated by commas.
inline constexpr const char* kOwnLabels = "slipway.dev/gfd-labels";

/// Returns the keys in a Node's annotation kOwnLabels. Only keys in gfd's own domains count, since other clients can
/// write the annotation.
std::set<std::string> own_labels(const Json& node);

class ClusterDoor {
 public:
  virtual ~ClusterDoor() = default;
  /// Errors: `not_found` the object does not exist; `unreachable`, `denied`, ….
  virtual Result<Json> get(const std::string& kind, const std::string& name) = 0;
  /// Creates the object, or replaces the existing one that has the same resourceVersion. Errors: `conflict` another
  /// client changed it meanwhile; ….
  virtual Status put(const Json& object) = 0;
  virtual Status merge(const std::string& kind, const std::string& name, const Json& patch) = 0;
};

/// Writes only when the labels differ.
class NodeFeatureSink final : public LabelSink {
 public:
  NodeFeatureSink(ClusterDoor& door, std::string node, std::string name_space)
      : door_(door), node_(std::move(node)), namespace_(std::move(name_space)) {}
  Result<bool> put(const Labels& labels) override;
  bool holds_labels() const override;

 private:
  ClusterDoor& door_;
  std::string node_;
  std::string namespace_;
};

/// Changes only labels that differ, and removes only labels that it added.
class NodeLabelSink final : public LabelSink {
 public:
  NodeLabelSink(ClusterDoor& door, std::string node) : door_(door), node_(std::move(node)) {}
  Result<bool> put(const Labels& labels) override;
  bool holds_labels() const override;

 private:
  ClusterDoor& door_;
  std::string node_;
};

}  // namespace slipway::gfd
