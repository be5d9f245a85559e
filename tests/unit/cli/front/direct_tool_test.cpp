// SPDX-License-Identifier: Apache-2.0
#include "cli/front/direct_tool.hpp"

#include <gmock/gmock.h>

namespace slipway::cli {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(ToolWords, AreReadAsComponentAndToolOrAsPluginComponentAndTool) {
  const auto ways = tool_words({"toolkit", "cdi", "generate", "--output", "x"});
  ASSERT_EQ(ways.size(), 2U);
  EXPECT_EQ(ways[0].component, "toolkit");
  EXPECT_THAT(ways[0].rest, ElementsAre("cdi", "generate", "--output", "x"));
  EXPECT_EQ(ways[1].plugin, "toolkit");
  EXPECT_EQ(ways[1].component, "cdi");
  EXPECT_THAT(ways[1].rest, ElementsAre("generate", "--output", "x"));
}

TEST(ToolWords, WithOptionsOfSlipwayAreLeftToSlipway) {
  EXPECT_THAT(tool_words({}), IsEmpty());
  EXPECT_THAT(tool_words({"gfd"}), IsEmpty());
  EXPECT_THAT(tool_words({"--help", "labels"}), IsEmpty());
  EXPECT_THAT(tool_words({"../gfd", "labels"}), IsEmpty());
  EXPECT_THAT(tool_words({"gfd", "labels", "-v"}), IsEmpty());
  EXPECT_THAT(tool_words({"gfd", "labels", "-vo", "json"}), IsEmpty());
  EXPECT_THAT(tool_words({"gfd", "labels", "--verbose"}), IsEmpty());
  EXPECT_THAT(tool_words({"gfd", "labels", "--sim", "h100x8"}), IsEmpty());
  EXPECT_THAT(tool_words({"gfd", "labels", "--sim=h100x8"}), IsEmpty());
  EXPECT_THAT(tool_words({"gfd", "labels", "--log-format", "json"}), IsEmpty());
  EXPECT_THAT(tool_words({"gfd", "labels", "--log-format=json"}), IsEmpty());
}

TEST(DirectTools, AreThoseOfTheDeclaringComponent) {
  const std::string both = "component: a\ntools: true\ndirect_tools: true\n---\ncomponent: b\ntools: true\n";
  EXPECT_TRUE(has_direct_tools(both, "a"));
  EXPECT_FALSE(has_direct_tools(both, "b"));
  EXPECT_FALSE(has_direct_tools(both, ""));
  EXPECT_TRUE(has_direct_tools("direct_tools: true\ncomponent: b", "b"));
}

TEST(DirectTools, AreNotReadFromSimilarText) {
  EXPECT_FALSE(has_direct_tools("component: a\nspec:\n  direct_tools: true\n", "a"));
  EXPECT_FALSE(has_direct_tools("component: a\ndirect_tools: false\n", "a"));
  EXPECT_FALSE(has_direct_tools("component: ab\ndirect_tools: true\n", "a"));
  EXPECT_FALSE(has_direct_tools("", "a"));
}

TEST(ToolPrograms, AreThoseOfTheComponentAndTheTool) {
  const std::string two =
      "component: a\ntool_programs: {one: slipway-one, two: slipway-two}\n---\ncomponent: b\ntools: true\n";
  EXPECT_EQ(tool_program(two, "a", "one"), "slipway-one");
  EXPECT_EQ(tool_program(two, "a", "two"), "slipway-two");
  EXPECT_EQ(tool_program(two, "a", "three"), "");
  EXPECT_EQ(tool_program(two, "b", "one"), "");
}

TEST(ToolPrograms, AreNeitherPathsNorForeignPrograms) {
  EXPECT_EQ(tool_program("component: a\ntool_programs: {one: ../slipway-one}\n", "a", "one"), "");
  EXPECT_EQ(tool_program("component: a\ntool_programs: {one: sh}\n", "a", "one"), "");
  EXPECT_EQ(tool_program("component: a\ntool_programs:\n  one: slipway-one\n", "a", "one"), "");
  EXPECT_EQ(tool_program("component: a\nspec:\n  tool_programs: {one: slipway-one}\n", "a", "one"), "");
}

}  // namespace
}  // namespace slipway::cli
