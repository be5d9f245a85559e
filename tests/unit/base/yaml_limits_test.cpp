// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include "base/yaml/load.hpp"

namespace slipway::yaml {
namespace {

using ::testing::HasSubstr;

/// Each line names the one before it ten times: 10^lines values in some hundred bytes.
std::string aliases(int lines) {
  std::string text = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n";
  for (int i = 1; i < lines; ++i) {
    const std::string before = "*a" + std::to_string(i - 1);
    text += "a" + std::to_string(i) + ": &a" + std::to_string(i) + " [" + before;
    for (int n = 1; n < 10; ++n) text += ", " + before;
    text += "]\n";
  }
  return text;
}

/// Counts the lists, maps and scalars that a reader visits, up to `most`.
std::size_t walk(const YAML::Node& node, std::size_t most) {
  std::size_t count = 1;
  for (const auto& entry : node) {
    if (count > most) return count;
    count += node.IsMap() ? 1 + walk(entry.second, most - count) : walk(entry, most - count);
  }
  return count;
}

std::string refusal(const std::string& text, const Limits& limits = {}) {
  try {
    (void)load(text, limits);
  } catch (const YAML::Exception& problem) {
    return place("file", problem.mark) + " " + problem_text(problem);
  }
  return "read";
}

TEST(YamlLimits, RefuseAKilobyteOfAliasesForBillionsOfValues) {
  const std::string text = aliases(9);
  ASSERT_LT(text.size(), 1000U);
  EXPECT_GT(walk(YAML::Load(text), 1'000'000), 1'000'000U) << "what a reader would walk over";
  EXPECT_THAT(refusal(text), HasSubstr("file:6:"));
  EXPECT_THAT(refusal(text),
              HasSubstr("is not read: with each alias (*name) written out it has more than 200000 values"));
  EXPECT_EQ(refusal(aliases(4)), "read");
}

TEST(YamlLimits, CountExactlyTheReadValues) {
  const std::string text = "a: &x [1, 2]\nb: *x\nc: {d: *x}\n";
  const std::size_t values = walk(YAML::Load(text), 1000);
  EXPECT_EQ(refusal(text, {.values = values}), "read");
  EXPECT_THAT(refusal(text, {.values = values - 1}), HasSubstr("more than"));
}

TEST(YamlLimits, HoldForTextBehindAliasesForBytesAndForDepth) {
  EXPECT_THAT(refusal("a: &a " + std::string(4000, 'x') + "\nb: [*a, *a, *a, *a]\n", {.scalars = 16'000}),
              HasSubstr("MiB of text"));
  EXPECT_THAT(refusal("a: 1111111111", {.bytes = 10}), HasSubstr("larger than"));
  EXPECT_THAT(refusal(std::string(65, '[') + std::string(65, ']')), HasSubstr("deeper than 64 levels"));
  EXPECT_EQ(refusal(std::string(64, '[') + std::string(64, ']')), "read");
}

TEST(YamlLimits, AnAliasInsideItsOwnValueIsAnError) {
  EXPECT_THAT(refusal("a: &a [*a]"), HasSubstr("is not YAML: an alias (*name) is inside the value that it names"));
}

}  // namespace
}  // namespace slipway::yaml
