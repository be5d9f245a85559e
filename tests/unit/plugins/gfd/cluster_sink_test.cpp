// SPDX-License-Identifier: Apache-2.0
// The sinks for objects of a cluster, before an API server that is a map.
#include "gfd/cluster_sink.hpp"

#include <gmock/gmock.h>

namespace slipway::gfd {
namespace {

class FakeDoor final : public ClusterDoor {
 public:
  Result<Json> get(const std::string& kind, const std::string& name) override {
    if (unreachable) return Error{ErrorCode::unreachable, "the API server does not answer", {}, {}, {}};
    const auto found = objects.find(kind + "/" + name);
    if (found == objects.end()) return Error{ErrorCode::not_found, "there is none", {}, {}, {}};
    return found->second;
  }
  Status put(const Json& object) override {
    ++writes;
    objects[object["kind"].get<std::string>() + "/" + object["metadata"]["name"].get<std::string>()] = object;
    return {};
  }
  Status merge(const std::string& kind, const std::string& name, const Json& patch) override {
    ++writes;
    objects[kind + "/" + name].merge_patch(patch);
    return {};
  }
  std::map<std::string, Json> objects;
  int writes = 0;
  bool unreachable = false;
};

const Labels kEight{{"nvidia.com/gpu.count", "8"}, {"nvidia.com/gpu.product", "NVIDIA-H100"}};
const Labels kSeven{{"nvidia.com/gpu.count", "7"}};

TEST(NodeFeature, HasTheFormOfGpuFeatureDiscovery) {
  EXPECT_EQ(node_feature_object(kSeven, "node-1", "nfd"), Json::parse(R"({
    "apiVersion": "nfd.k8s-sigs.io/v1alpha1", "kind": "NodeFeature",
    "metadata": {"name": "nvidia-features-for-node-1", "namespace": "nfd",
                 "labels": {"nfd.node.kubernetes.io/node-name": "node-1"}},
    "spec": {"features": {"flags": {}, "attributes": {}, "instances": {}}, "labels": {"nvidia.com/gpu.count": "7"}}})"));
}

TEST(NodeFeature, IsWrittenOnlyWhenItDiffersAndKeepsForeignLabels) {
  FakeDoor door;
  NodeFeatureSink sink(door, "node-1", "nfd");
  EXPECT_FALSE(sink.holds_labels());
  EXPECT_EQ(sink.put(kEight).value(), true);
  EXPECT_TRUE(sink.holds_labels());
  Json& object = door.objects["NodeFeature/nvidia-features-for-node-1"];
  object["metadata"]["resourceVersion"] = "42";
  EXPECT_EQ(sink.put(kEight).value(), false);
  EXPECT_EQ(door.writes, 1);
  EXPECT_EQ(sink.put(kSeven).value(), true);
  EXPECT_EQ(object["metadata"]["resourceVersion"], "42");
  EXPECT_EQ(object["spec"]["labels"], Json(kSeven));
}

TEST(NodeFeature, AnApiServerThatDoesNotAnswerIsAnErrorAndNoWrite) {
  FakeDoor door;
  door.unreachable = true;
  EXPECT_EQ(NodeFeatureSink(door, "node-1", "").put(kEight).error().code, ErrorCode::unreachable);
  EXPECT_EQ(NodeLabelSink(door, "node-1").put(kEight).error().code, ErrorCode::unreachable);
  EXPECT_EQ(door.writes, 0);
}

TEST(NodeLabels, AreSetAndOnlyOwnOnesAreRemoved) {
  FakeDoor door;
  NodeLabelSink sink(door, "node-1");
  EXPECT_EQ(sink.put(kEight).error().code, ErrorCode::not_found);
  Json& node = door.objects["Node/node-1"] = {
      {"kind", "Node"}, {"metadata", {{"name", "node-1"}, {"labels", {{"zone", "a"}, {"nvidia.com/other", "x"}}}}}};
  EXPECT_FALSE(sink.holds_labels());
  EXPECT_EQ(sink.put(kEight).value(), true);
  EXPECT_TRUE(sink.holds_labels());
  EXPECT_EQ(sink.put(kEight).value(), false);
  EXPECT_EQ(sink.put(kSeven).value(), true);
  EXPECT_EQ(node["metadata"]["labels"],
            Json::parse(R"({"zone": "a", "nvidia.com/other": "x", "nvidia.com/gpu.count": "7"})"));
  node["metadata"]["labels"]["nvidia.com/gpu.count"] = "9";  // another program changed it
  EXPECT_EQ(sink.put(kSeven).value(), true);
  EXPECT_EQ(node["metadata"]["labels"]["nvidia.com/gpu.count"], "7");
}

TEST(NodeLabels, AnAnnotationCannotRemoveOtherLabels) {
  const Json node{{"metadata", {{"annotations", {{kOwnLabels, "kubernetes.io/hostname, zone,nvidia.com/gpu.count"}}}}}};
  EXPECT_EQ(own_labels(node), std::set<std::string>{"nvidia.com/gpu.count"});
  EXPECT_TRUE(own_labels(Json::parse(R"({"metadata": {"annotations": []}})")).empty());
  EXPECT_TRUE(own_labels(Json::object()).empty());
}

}  // namespace
}  // namespace slipway::gfd
