// SPDX-License-Identifier: Apache-2.0
#include "gfd/cluster_sink.hpp"

#include <algorithm>
#include <array>

#include <slipway/text.hpp>

namespace slipway::gfd {
namespace {

constexpr const char* kFeatureKind = "NodeFeature";
constexpr const char* kNodeKind = "Node";
constexpr std::array<std::string_view, 2> kDomains{"nvidia.com/", "feature.node.kubernetes.io/pci-10de."};

std::string feature_name(const std::string& node) { return "nvidia-features-for-" + node; }

const Json& part_of(const Json& object, const char* outer, const char* inner) {
  static const Json none = Json::object();
  const auto first = object.find(outer);
  if (first == object.end() || !first->is_object()) return none;
  const auto second = first->find(inner);
  return second == first->end() || !second->is_object() ? none : *second;
}

bool is_ours(std::string_view key) {
  return std::ranges::any_of(kDomains, [&](std::string_view domain) { return key.starts_with(domain); });
}

std::string keys_of(const Labels& labels) {
  return joined(labels, ",", [](const auto& label) { return label.first; });
}

}  // namespace

Json node_feature_object(const Labels& labels, const std::string& node, const std::string& name_space) {
  Json object{{"apiVersion", "nfd.k8s-sigs.io/v1alpha1"}, {"kind", kFeatureKind}};
  object["metadata"] = {{"name", feature_name(node)}, {"labels", {{"nfd.node.kubernetes.io/node-name", node}}}};
  if (!name_space.empty()) object["metadata"]["namespace"] = name_space;
  object["spec"]["features"] = {
      {"flags", Json::object()}, {"attributes", Json::object()}, {"instances", Json::object()}};
  object["spec"]["labels"] = labels;
  return object;
}

Json node_labels_patch(const Labels& labels, const std::set<std::string>& former) {
  Json changes = labels;
  for (const std::string& key : former)
    if (!labels.contains(key)) changes[key] = nullptr;
  return {{"metadata", {{"labels", changes}, {"annotations", {{kOwnLabels, keys_of(labels)}}}}}};
}

std::set<std::string> own_labels(const Json& node) {
  std::set<std::string> keys;
  const Json& notes = part_of(node, "metadata", "annotations");
  const auto found = notes.find(kOwnLabels);
  if (found == notes.end() || !found->is_string()) return keys;
  for (std::string& key : split_list(found->get<std::string>()))
    if (is_ours(key)) keys.insert(std::move(key));
  return keys;
}

Result<bool> NodeFeatureSink::put(const Labels& labels) {
  const Json wanted = node_feature_object(labels, node_, namespace_);
  auto existing = door_.get(kFeatureKind, feature_name(node_));
  if (!existing && existing.error().code != ErrorCode::not_found) return existing.error();
  if (!existing) {
    SLIPWAY_CHECK(door_.put(wanted));
    return true;
  }
  const Json& spec = wanted["spec"];
  const bool same_labels = part_of(*existing, "spec", "labels") == spec["labels"];
  if (same_labels && part_of(*existing, "metadata", "labels") == wanted["metadata"]["labels"]) return false;
  Json next = *std::move(existing);  // keeps its resourceVersion and owners
  next["metadata"]["labels"] = wanted["metadata"]["labels"];
  next["spec"] = spec;
  SLIPWAY_CHECK(door_.put(next));
  return true;
}

bool NodeFeatureSink::holds_labels() const { return door_.get(kFeatureKind, feature_name(node_)).ok(); }

Result<bool> NodeLabelSink::put(const Labels& labels) {
  SLIPWAY_TRY(node, door_.get(kNodeKind, node_));
  const std::set<std::string> former = own_labels(node);
  const Json& existing = part_of(node, "metadata", "labels");
  const bool same = std::ranges::all_of(labels, [&](const auto& label) {
    const auto found = existing.find(label.first);
    return found != existing.end() && *found == label.second && former.contains(label.first);
  });
  if (same && former.size() == labels.size()) return false;
  SLIPWAY_CHECK(door_.merge(kNodeKind, node_, node_labels_patch(labels, former)));
  return true;
}

bool NodeLabelSink::holds_labels() const {
  const auto node = door_.get(kNodeKind, node_);
  return node && !own_labels(*node).empty();
}

}  // namespace slipway::gfd
