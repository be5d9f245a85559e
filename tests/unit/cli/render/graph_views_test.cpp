// SPDX-License-Identifier: Apache-2.0
#include "cli/render/graph_views.hpp"

#include <algorithm>

#include <gmock/gmock.h>

#include <slipway/text.hpp>

namespace slipway::cli {
namespace {

using ::testing::AllOf;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;
using Names = std::vector<std::string>;

/// Components in their order, each with its requirements and those that it only comes after.
struct Waiting {
  std::string name;
  Names requires_ = {};
  Names after = {};
};

core::Graph graph_of(const std::vector<Waiting>& components) {
  core::Graph graph;
  for (const Waiting& each : components) {
    graph.order.push_back(each.name);
    graph.requires_[each.name] = each.requires_;
    Names& before = graph.before[each.name] = each.requires_;
    before.insert(before.end(), each.after.begin(), each.after.end());
    std::ranges::sort(before);
  }
  return graph;
}

core::Graph whole_node() {
  return graph_of({{"driver"},
                   {"mig", {"driver"}},
                   {"cdi", {"driver"}, {"mig"}},
                   {"dcgm", {"driver"}, {"mig"}},
                   {"deviceplugin", {"cdi"}},
                   {"gfd", {"driver"}, {"mig"}},
                   {"runtime"},
                   {"validator", {"driver"}, {"dcgm", "deviceplugin", "gfd"}}});
}

/// Returns twelve components, the last of which waits for all others.
core::Graph twelve() {
  std::vector<Waiting> all;
  Names before;
  for (int i = 0; i < 12; ++i) {
    const std::string name = "component-" + std::string(1, static_cast<char>('a' + i));
    all.push_back({name, i % 3 == 0 ? Names{} : Names{before.back()}, i == 11 ? before : Names{}});
    if (i == 11) std::erase(all.back().after, before.back());
    before.push_back(name);
  }
  return graph_of(all);
}

std::size_t widest_line(const std::string& text) {
  std::size_t width = 0;
  for (const std::string& line : lines_of(text)) width = std::max(width, width_of(line));
  return width;
}

TEST(GraphText, HasALineForEachComponentAndARailDownToThoseThatWaitForIt) {
  EXPECT_EQ(graph_text(whole_node(), 80, true),
            "driver        ●\n"
            "mig           ◆─●            requires driver\n"
            "cdi           ◆─◇─●          requires driver; after mig\n"
            "dcgm          ◆─◇─┼─●        requires driver; after mig\n"
            "deviceplugin  │ │ ◆─┼─●      requires cdi\n"
            "gfd           ◆─◇───┼─┼─●    requires driver; after mig\n"
            "runtime       │     │ │ │ ●\n"
            "validator     ◆─────◇─◇─◇─●  requires driver; after dcgm, deviceplugin and gfd\n"
            "\n"
            "◆ requires the ● above it in its column, ◇ is only after it\n");
}

TEST(GraphText, IsAsciiWhereTheTerminalHasNoOtherCharacters) {
  EXPECT_EQ(graph_text(graph_of({{"driver"}, {"mig", {"driver"}}, {"cdi", {"driver"}, {"mig"}}}), 80, false),
            "driver  *\n"
            "mig     R-*    requires driver\n"
            "cdi     R-A-*  requires driver; after mig\n"
            "\n"
            "R requires the * above it in its column, A is only after it\n");
}

TEST(GraphText, ContinuesBelowWithTheRailsWhereTheWordsAreLong) {
  const core::Graph graph = graph_of({{"driver"},
                                      {"fabricmanager", {"driver"}},
                                      {"deviceplugin", {"driver"}, {"fabricmanager"}},
                                      {"validator", {"driver", "deviceplugin"}, {"fabricmanager"}},
                                      {"zero", {"driver"}}});
  EXPECT_THAT(graph_text(graph, 52, true), HasSubstr("validator      ◆─◇─◆─●  requires driver and\n"
                                                     "               │        deviceplugin; after\n"
                                                     "               │        fabricmanager\n"));
}

TEST(GraphText, OfTwelveFitsAnyTerminal) {
  for (const std::size_t columns : {40U, 60U, 80U, 132U})
    for (const bool utf8 : {true, false}) {
      const std::string text = graph_text(twelve(), columns, utf8);
      EXPECT_LE(widest_line(text), columns) << text;
      EXPECT_EQ(text.find('\x1b'), std::string::npos);
    }
  EXPECT_THAT(graph_text(twelve(), 80, true), HasSubstr("●"));
}

TEST(GraphText, LeavesTheRailsOutWhereTheyLeaveNoRoomForWords) {
  EXPECT_EQ(graph_text(whole_node(), 40, true),
            "driver\n"
            "mig: requires driver\n"
            "cdi: requires driver; after mig\n"
            "dcgm: requires driver; after mig\n"
            "deviceplugin: requires cdi\n"
            "gfd: requires driver; after mig\n"
            "runtime\n"
            "validator: requires driver; after dcgm,\n"
            "    deviceplugin and gfd\n");
}

TEST(GraphText, OfNoComponentsSaysSo) { EXPECT_EQ(graph_text({}, 80, true), "The spec has no components.\n"); }

TEST(GraphText, OfComponentsThatDoNotWaitNeedsNoLegend) {
  EXPECT_EQ(graph_text(graph_of({{"a"}, {"b"}}), 80, false), "a  *\nb  *\n");
}

TEST(GraphText, ExplainsTheMarksThatExist) {
  EXPECT_THAT(graph_text(graph_of({{"a"}, {"b", {}, {"a"}}}), 80, true),
              EndsWith("\n\n◇ comes after the ● above it in its column\n"));
  EXPECT_THAT(graph_text(graph_of({{"a"}, {"b", {"a"}}}), 80, true),
              EndsWith("\n\n◆ requires the ● above it in its column\n"));
}

TEST(GraphDot, HasFullLinesForRequiresAndDashedOnesForAfter) {
  const std::string dot = graph_dot(whole_node());
  EXPECT_THAT(dot, AllOf(HasSubstr("digraph slipway {\n"), HasSubstr("  \"driver\" -> \"cdi\";\n"),
                         HasSubstr("  \"mig\" -> \"cdi\" [style=dashed];\n")));
}

TEST(GraphSvg, HasABoxForEachComponentAndAnArrowForEachThatItWaitsFor) {
  const std::string svg = graph_svg(whole_node());
  EXPECT_EQ(svg, graph_svg(whole_node()));
  for (const std::string& name : whole_node().order) EXPECT_THAT(svg, HasSubstr(">" + name + "</text>"));
  EXPECT_THAT(svg, AllOf(HasSubstr("marker-end=\"url(#tip)\"><title>cdi requires driver</title>"),
                         HasSubstr("stroke-dasharray=\"6 4\"><title>cdi after mig</title>")));
  EXPECT_THAT(svg, AllOf(Not(HasSubstr("href")), Not(HasSubstr("<style"))));
}

TEST(GraphSvg, PutsADependentToTheRight) {
  const std::string svg = graph_svg(graph_of({{"a"}, {"b", {"a"}}, {"c", {"a", "b"}}}));
  const auto left_of = [&svg](const std::string& name) {
    const std::size_t text = svg.find(">" + name + "</text>");
    const std::size_t at = svg.rfind("<text x=\"", text) + 9;
    return std::stoi(svg.substr(at));
  };
  EXPECT_LT(left_of("a"), left_of("b"));
  EXPECT_LT(left_of("b"), left_of("c"));
}

TEST(GraphSvg, EscapesNames) {
  EXPECT_THAT(graph_svg(graph_of({{"<a&\">"}})), HasSubstr(">&lt;a&amp;&quot;&gt;</text>"));
}

}  // namespace
}  // namespace slipway::cli
