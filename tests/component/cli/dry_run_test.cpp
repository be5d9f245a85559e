// SPDX-License-Identifier: Apache-2.0
// A dry run shows the changes and makes none; on a terminal, apply asks before it changes anything.
#include "tests/component/cli/driver_root.hpp"

namespace slipway {
namespace {

using slipway::testing::DriverRoot;
using slipway::testing::Ran;
using ::testing::HasSubstr;

// Before the fix, `apply --dry-run` installed, and `remove --all --dry-run` removed.
TEST(DryRun, OfAnApplyEqualsThePlan) {
  const DriverRoot root;
  const auto before = root.tree();
  const Ran dry = root.run({"apply", "--dry-run"});
  EXPECT_EQ(dry.code, 2) << dry.err;
  EXPECT_EQ(dry.out, root.run({"plan"}).out);
  EXPECT_EQ(root.tree(), before);
  ASSERT_EQ(root.run({"apply"}).code, 0);
  EXPECT_EQ(root.run({"apply", "--dry-run"}).code, 0);
}

TEST(DryRun, OfASavedPlanReportsWhetherItIsUpToDate) {
  const DriverRoot root;
  const std::string saved = root.folder().at("plan.json").string();
  root.folder().file("plan.json", root.run({"plan", "-o", "json"}).out);
  EXPECT_EQ(root.bare({"apply", saved, "--dry-run"}).code, 2);
  ASSERT_EQ(root.run({"apply"}).code, 0);
  const auto before = root.tree();
  expect_refused(root, root.bare({"apply", saved, "--dry-run"}), 1, {"out of date"}, before);
}

TEST(DryRun, OfARemovalNamesWhatItWouldDelete) {
  const DriverRoot root;
  ASSERT_EQ(root.run({"apply"}).code, 0);
  const auto before = root.tree();
  for (const std::string what : {"--all", "driver"}) {
    const Ran dry = root.run({"remove", what, "--dry-run"});
    EXPECT_EQ(dry.code, 2) << dry.err;
    EXPECT_THAT(dry.out, HasSubstr("/etc/modprobe.d/slipway-nvidia.conf"));
    EXPECT_EQ(root.tree(), before);
  }
  EXPECT_EQ(Json::parse(root.run({"remove", "--all", "--dry-run", "-o", "json"}).out)["kind"], "Plan");
}

TEST(DryRun, OfARollbackNamesWhatWouldChange) {
  const DriverRoot root;
  const std::string keys =
      ", version: \"535.261.03\", source: {repository: " + testing::kPackage + ", trust: unsigned}";
  root.driver("modules: open, blacklist_nouveau: true" + keys);
  ASSERT_EQ(root.run({"apply"}).code, 0);
  root.driver("modules: open, blacklist_nouveau: false" + keys);
  ASSERT_EQ(root.run({"apply"}).code, 0);
  const auto before = root.tree();
  const Ran dry = root.run({"rollback", "--dry-run"});
  EXPECT_EQ(dry.code, 2) << dry.err;
  EXPECT_THAT(dry.out, HasSubstr("/etc/modprobe.d/slipway-nvidia.conf"));
  EXPECT_EQ(root.tree(), before);
  ASSERT_EQ(root.run({"rollback"}).code, 0);
  EXPECT_EQ(root.run({"rollback", "2", "--dry-run"}).code, 2);
}

TEST(DryRun, RefusesTheOptionYes) {
  const DriverRoot root;
  const auto before = root.tree();
  expect_refused(root, root.run({"apply", "--dry-run", "--yes"}), 64, {"--dry-run", "--yes"}, before);
}

/// Runs the command on a terminal, with this answer typed.
Ran on_a_terminal(const DriverRoot& root, const std::string& command, const std::string& answer) {
  DriverRoot shell;
  shell.program = "/bin/sh";
  const std::string words = "SLIPWAY_PLUGIN_PATH=" + root.plugins + " " + root.program + " " + command +
                            " --sim h100x8 --root " + root.folder().at("root").string() + " --cache " +
                            root.folder().at("cache").string();
  return shell.bare({"-c", "echo " + answer + " | script -qec '" + words + "' /dev/null"});
}

// Before the fix, --yes was accepted, but there was no question without it.
TEST(Question, BeforeARemovalOrARollbackIsAskedOnATerminal) {
  const DriverRoot root;
  const std::string source = ", source: {repository: " + testing::kPackage + ", trust: unsigned}";
  root.driver("version: \"535.261.03\", modules: open, blacklist_nouveau: true" + source);
  ASSERT_EQ(root.run({"apply"}).code, 0);
  root.driver("version: \"535.261.03\", modules: open, blacklist_nouveau: false" + source);
  ASSERT_EQ(root.run({"apply"}).code, 0);
  const auto before = root.tree();
  for (const std::string command : {"remove --all", "rollback"}) {
    const Ran ran = on_a_terminal(root, command, "n");
    EXPECT_EQ(ran.code, 1) << ran.out;
    EXPECT_THAT(ran.out, HasSubstr("this? [y/N]"));
    EXPECT_THAT(ran.out, HasSubstr("Nothing was changed."));
    EXPECT_EQ(root.tree(), before);
  }
  EXPECT_EQ(on_a_terminal(root, "remove --all", "y").code, 0);
  EXPECT_FALSE(std::filesystem::exists(root.path("var/lib/slipway/components/driver.json")));
}

TEST(Question, BeforeAnAcceptanceIsAskedOnATerminal) {
  const DriverRoot root;
  ASSERT_EQ(root.run({"apply"}).code, 0);
  root.put("etc/modprobe.d/slipway-nvidia.conf", "# by hand\n");
  const auto before = root.tree();
  const std::string command = "accept /etc/modprobe.d/slipway-nvidia.conf";
  const Ran refused = on_a_terminal(root, command, "n");
  EXPECT_THAT(refused.out, HasSubstr("Accept this? [y/N]"));
  EXPECT_EQ(root.tree(), before);
  EXPECT_EQ(on_a_terminal(root, command, "y").code, 0);
  EXPECT_EQ(root.run({"verify"}).code, 0);
}

}  // namespace
}  // namespace slipway
