// SPDX-License-Identifier: Apache-2.0
#include "tests/component/cli/driver_root.hpp"

namespace slipway {
namespace {

using slipway::testing::DriverRoot;
using slipway::testing::Ran;
using ::testing::HasSubstr;

TEST(CommandLine, MistakesExitWith64AndSayWhatIsMeant) {
  const DriverRoot root;
  const auto before = root.tree();
  expect_refused(root, root.run({"aply"}), 64, {"aply", "apply"}, before);
  expect_refused(root, root.run({"plan", "--colour"}), 64, {"colour"}, before);
  expect_refused(root, root.run({"plan", "-o", "xml"}), 64, {"xml", "json"}, before);
  expect_refused(root, root.run({"remove"}), 64, {"--all"}, before);
  expect_refused(root, root.run({"pkg", "bild"}), 64, {"pkg"}, before);
}

TEST(CommandLine, AnUnknownProfileListsTheKnownOnes) {
  const DriverRoot root;
  const auto before = root.tree();
  expect_refused(root, root.run({"plan"}, "h1000x8"), 1, {"h1000x8", "h100x8", "gb200x4"}, before);
}

TEST(CommandLine, AComponentThatTheSpecDoesNotHaveIsRefused) {
  const DriverRoot root;
  const auto before = root.tree();
  expect_refused(root, root.run({"apply", "--only", "drver"}), 1, {"drver", "driver"}, before);
}

TEST(Results, OnStandardOutputAreJsonWithAnApiVersionAndLogsAreElsewhere) {
  const DriverRoot root;
  for (const auto& words : {std::vector<std::string>{"plan", "-o", "json"},
                            {"apply", "-o", "json"},
                            {"verify", "-o", "json"},
                            {"status", "-o", "json"}}) {
    const Ran ran = root.run(words);
    const Json result = Json::parse(ran.out, nullptr, false);
    ASSERT_FALSE(result.is_discarded()) << words[0] << ": " << ran.out;
    EXPECT_EQ(result["apiVersion"], "slipway.dev/v1");
    EXPECT_TRUE(result["kind"].is_string());
  }
}

TEST(Results, OfAFailureAreJsonAsWell) {
  const DriverRoot root;
  root.source("{repository: /nowhere/package, trust: unsigned}");
  const Ran ran = root.run({"apply", "-o", "json"});
  EXPECT_EQ(ran.code, 1);
  EXPECT_THAT(ran.out, HasSubstr("/nowhere/package"));
  EXPECT_FALSE(Json::parse(ran.out, nullptr, false).is_discarded()) << ran.out;
}

TEST(Version, IsPrintedWithoutLookingAtAnything) {
  const DriverRoot root;
  const Ran ran = root.slipway({"version"});
  EXPECT_EQ(ran.code, 0) << ran.err;
  EXPECT_THAT(ran.out, ::testing::ContainsRegex("[0-9]+\\.[0-9]+\\.[0-9]+"));
}

}  // namespace
}  // namespace slipway
