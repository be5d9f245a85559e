// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <slipway/action/difference.hpp>

namespace slipway {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

Json file(const std::string& content, unsigned mode = 0644) {
  return {{"kind", "file"}, {"target", "/etc/x"}, {"content", content}, {"mode", mode}};
}

TEST(ActionDifference, NamesEachKeyWithBothValues) {
  EXPECT_EQ(action_difference(file("a\n"), file("a\n")), "");
  EXPECT_EQ(action_difference(file("a"), file("b", 0755)), R"(content: "a" -> "b"; mode: 420 -> 493)");
  EXPECT_EQ(action_difference({{"argv", {"ls", "-a"}}}, {{"argv", {"ls", "-b"}}}), R"(argv[1]: "-a" -> "-b")");
  EXPECT_EQ(action_difference({{"data", {{"a", 1}, {"b", {{"c", 2}}}}}}, {{"data", {{"b", {{"c", 3}}}}}}),
            "data.a: 1 -> (not set); data.b.c: 2 -> 3");
}

TEST(ActionDifference, ShowsTheFirstLineThatDiffers) {
  EXPECT_EQ(action_difference(file("a\nb\nc\n"), file("a\nx\nc\n")), R"(content, line 2: "b\n" -> "x\n")");
  EXPECT_EQ(action_difference(file("a\n"), file("a\nb\n")), R"(content, line 2: (not set) -> "b\n")");
  EXPECT_EQ(action_difference(file("a\n"), file("a")), R"(content, line 1: "a\n" -> "a")");
}

TEST(ActionDifference, ShowsNoSecret) {
  EXPECT_THAT(action_difference(file("hunter1\n", 0600), file("hunter2\n", 0600)),
              AllOf(HasSubstr("content: not equal"), Not(HasSubstr("hunter"))));
  const auto merge = [](const char* value) { return Json{{"data", {{"password", value}}}}; };
  EXPECT_THAT(action_difference(merge("hunter1"), merge("hunter2")),
              AllOf(HasSubstr("data.password: not equal"), Not(HasSubstr("hunter"))));
  const Json none{{"data", nullptr}};
  EXPECT_THAT(action_difference(none, merge("hunter2")), Not(HasSubstr("hunter")));
}

TEST(ActionDifference, HasAnEnd) {
  Json before = Json::object();
  Json after = Json::object();
  for (int i = 0; i < 100; ++i) {
    before[std::to_string(i)] = std::string(5000, 'a');
    after[std::to_string(i)] = std::string(5000, 'b');
  }
  const std::string text = action_difference(before, after);
  EXPECT_LT(text.size(), 1000U);
  EXPECT_THAT(text, HasSubstr("; 96 more"));
}

}  // namespace
}  // namespace slipway
