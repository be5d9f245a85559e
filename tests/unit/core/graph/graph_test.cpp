// SPDX-License-Identifier: Apache-2.0
#include "core/graph/graph.hpp"

#include <algorithm>
#include <random>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/graph/order.hpp"

namespace slipway::core {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

struct Edges {
  std::vector<std::string> after = {};
  std::vector<std::string> requires_ = {};
  std::vector<std::string> provides = {};
  std::vector<std::string> conflicts = {};
};

Manifest component(const std::string& name, const Edges& edges = {}) {
  Manifest manifest;
  manifest.component = name;
  manifest.after = edges.after;
  manifest.requires_ = edges.requires_;
  manifest.provides = edges.provides;
  manifest.conflicts = edges.conflicts;
  return manifest;
}

Result<Graph> graph_of(const std::vector<Manifest>& manifests, const std::vector<Manifest>& known = {}) {
  std::vector<const Manifest*> components, all;
  for (const Manifest& manifest : manifests) components.push_back(&manifest);
  for (const Manifest& manifest : known) all.push_back(&manifest);
  return make_graph(components, all);
}

// The node in DESIGN.md, section 6.
std::vector<Manifest> whole_node() {
  return {component("validator", {.after = {"deviceplugin", "dra", "gfd", "dcgm"}, .requires_ = {"gpu-driver"}}),
          component("dcgm", {.after = {"mig"}, .requires_ = {"gpu-driver"}}),
          component("gfd", {.after = {"mig"}, .requires_ = {"gpu-driver"}}),
          component("deviceplugin", {.requires_ = {"cdi"}, .provides = {"gpu-manager"}, .conflicts = {"gpu-manager"}}),
          component("cdi", {.after = {"mig"}, .requires_ = {"gpu-driver"}}),
          component("mig", {.after = {"fabricmanager"}, .requires_ = {"gpu-driver"}}),
          component("runtime"),
          component("driver", {.provides = {"gpu-driver"}})};
}

TEST(Graph, OrdersByEdgesAndThenByName) {
  const auto graph = graph_of(whole_node());
  ASSERT_TRUE(graph) << to_text(graph.error());
  EXPECT_THAT(graph->order, ElementsAre("driver", "mig", "cdi", "dcgm", "deviceplugin", "gfd", "runtime", "validator"));
}

TEST(Graph, ReportsRequirementsFromMereOrder) {
  const auto graph = graph_of(whole_node());
  EXPECT_THAT(graph->requires_.at("cdi"), ElementsAre("driver"));
  EXPECT_THAT(graph->before.at("cdi"), ElementsAre("driver", "mig"));
}

TEST(Graph, OfNoComponentsIsEmpty) {
  const auto graph = graph_of({});
  ASSERT_TRUE(graph);
  EXPECT_TRUE(graph->order.empty());
}

TEST(Graph, ShowsTheWholeCircleAndWhyItIsOne) {
  const auto graph = graph_of({component("a", {.requires_ = {"last"}}), component("b", {.after = {"a"}}),
                               component("c", {.requires_ = {"b"}, .provides = {"last"}}), component("d")});
  ASSERT_FALSE(graph);
  EXPECT_EQ(graph.error().code, ErrorCode::invalid);
  EXPECT_THAT(graph.error().what, HasSubstr("a -> b -> c -> a"));
  ASSERT_EQ(graph.error().details.size(), 3U);
  EXPECT_EQ(graph.error().details[0].second, "b after a");
  EXPECT_EQ(graph.error().details[1].second, "c requires b");
  EXPECT_EQ(graph.error().details[2].second, "a requires c (as 'last')");
}

TEST(Graph, NamesProvidersOfAMissingRequirement) {
  const std::vector<Manifest> known{component("driver", {.provides = {"gpu-driver"}}),
                                    component("vgpu", {.provides = {"gpu-driver"}}), component("mig")};
  const auto graph = graph_of({component("mig", {.requires_ = {"gpu-driver"}})}, known);
  ASSERT_FALSE(graph);
  EXPECT_EQ(graph.error().what, "mig requires 'gpu-driver', which no component of the spec provides");
  EXPECT_EQ(graph.error().where, "spec.components.mig");
  EXPECT_EQ(graph.error().next, "add driver or vgpu to spec.components, or drop mig from the spec");
}

TEST(Graph, SaysWhenNoPluginMeetsARequirement) {
  const auto graph =
      graph_of({component("mig", {.requires_ = {"gpu-drivr"}})}, {component("driver", {.provides = {"gpu-driver"}})});
  ASSERT_FALSE(graph);
  EXPECT_THAT(graph.error().what, HasSubstr("did you mean 'gpu-driver'?"));
  EXPECT_THAT(graph.error().next, HasSubstr("install a plugin that provides 'gpu-drivr'"));
}

TEST(Graph, RefusesTwoThatExcludeEachOther) {
  const auto by_name = graph_of({component("a", {.conflicts = {"b"}}), component("b")});
  ASSERT_FALSE(by_name);
  EXPECT_EQ(by_name.error().code, ErrorCode::conflict);
  EXPECT_EQ(by_name.error().what, "a and b exclude each other");
  const auto by_capability = graph_of({component("dra", {.provides = {"gpu-manager"}, .conflicts = {"gpu-manager"}}),
                                       component("deviceplugin", {.provides = {"gpu-manager"}})});
  ASSERT_FALSE(by_capability);
  EXPECT_THAT(by_capability.error().what, HasSubstr("both provide 'gpu-manager'"));
  const auto one_way = graph_of(
      {component("vfio", {.conflicts = {"gpu-manager"}}), component("deviceplugin", {.provides = {"gpu-manager"}})});
  EXPECT_THAT(one_way.error().what, HasSubstr("deviceplugin provides 'gpu-manager'"));
  EXPECT_TRUE(graph_of({component("dra", {.provides = {"gpu-manager"}, .conflicts = {"gpu-manager"}})}));
}

TEST(Graph, RefusesADuplicateComponent) {
  EXPECT_EQ(graph_of({component("a"), component("a")}).error().code, ErrorCode::conflict);
}

TEST(Graph, WaitsForEveryProviderOfACapability) {
  const auto graph = graph_of(
      {component("z", {.provides = {"x"}}), component("y", {.provides = {"x"}}), component("a", {.requires_ = {"x"}})});
  EXPECT_THAT(graph->order, ElementsAre("y", "z", "a"));
}

/// A random graph whose edges only go from a higher to a lower place of a shuffled list.
Predecessors random_dag(std::mt19937& random, std::size_t size) {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < size; ++i) names.push_back("c" + std::to_string(i));
  std::shuffle(names.begin(), names.end(), random);
  Predecessors before;
  for (std::size_t i = 0; i < size; ++i) {
    before[names[i]];
    for (std::size_t j = 0; j < i; ++j)
      if (random() % 4 == 0) before[names[i]].push_back(names[j]);
  }
  return before;
}

TEST(TotalOrder, OfAnyGraphRespectsEveryEdgeAndTakesTheSmallestNameThatIsFree) {
  std::mt19937 random(7);
  for (int round = 0; round < 200; ++round) {
    const Predecessors before = random_dag(random, 2 + random() % 12);
    const auto order = total_order(before);
    ASSERT_EQ(order.size(), before.size());
    EXPECT_TRUE(find_cycle(before).empty());
    std::set<std::string> done;
    for (const std::string& name : order) {
      for (const auto& [other, first] : before) {
        const bool is_free = std::all_of(first.begin(), first.end(), [&](const auto& p) { return done.count(p) > 0; });
        if (is_free && done.count(other) == 0) {
          EXPECT_EQ(name, other);  // `before` is sorted by name: the first free one is expected
          break;
        }
      }
      done.insert(name);
    }
  }
}

TEST(FindCycle, OfAnyGraphWithABackEdgeIsARealCycle) {
  std::mt19937 random(11);
  int found = 0;
  for (int round = 0; round < 200; ++round) {
    Predecessors before = random_dag(random, 2 + random() % 12);
    const auto order = total_order(before);
    before[order.front()].push_back(order.back());
    const auto cycle = find_cycle(before);
    const bool complete = total_order(before).size() == before.size();
    EXPECT_EQ(cycle.empty(), complete);
    for (std::size_t i = 0; i < cycle.size(); ++i) {
      const auto& first = before.at(cycle[(i + 1) % cycle.size()]);
      EXPECT_NE(std::find(first.begin(), first.end(), cycle[i]), first.end());
    }
    found += cycle.empty() ? 0 : 1;
  }
  EXPECT_GT(found, 50);
}

}  // namespace
}  // namespace slipway::core
