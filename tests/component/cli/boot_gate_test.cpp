// SPDX-License-Identifier: Apache-2.0
// `boot_gate: true` through the command line: a boot counts as good only when slipway-verify.service passes.
#include "tests/component/cli/driver_root.hpp"

namespace slipway {
namespace {

using slipway::testing::DriverRoot;
using slipway::testing::Ran;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

namespace fs = std::filesystem;

const std::string kUnit = "etc/systemd/system/slipway-verify.service";
const std::string kLink = "etc/systemd/system/boot-complete.target.requires/slipway-verify.service";

class BootGate : public ::testing::Test {
 protected:
  void want(const std::string& gate) const {
    root.folder().file("host.yaml",
                       "apiVersion: slipway.dev/v1\nkind: Host\nmetadata: {name: test}\nspec:\n" + gate +
                           "  components:\n    driver: {version: \"535.261.03\", modules: open, source: {repository: " +
                           slipway::testing::kPackage + ", trust: unsigned}}\n");
  }
  bool is_linked() const { return fs::is_symlink(root.path(kLink)); }

  DriverRoot root;
};

TEST_F(BootGate, MakesBootCompleteTargetRequireTheVerifyAndIsAnItemOfThePlan) {
  want("  boot_gate: true\n");
  const Ran plan = root.run({"plan"});
  EXPECT_THAT(plan.out, HasSubstr("slipway-verify.service (0644), enable")) << plan.err;
  const Ran applied = root.run({"apply"});
  ASSERT_EQ(applied.code, 0) << applied.out << applied.err;
  EXPECT_TRUE(is_linked());
  EXPECT_THAT(root.text(kUnit),
              AllOf(HasSubstr("\nBefore=boot-complete.target\n"), HasSubstr("\nRequiredBy=boot-complete.target\n")));
  EXPECT_EQ(root.run({"plan"}).code, 0) << "nothing is left to do";
  EXPECT_EQ(root.run({"verify"}).code, 0);
}

TEST_F(BootGate, IsTakenBackWithTheKeyAndWithEverything) {
  want("");
  ASSERT_EQ(root.run({"apply"}).code, 0);
  EXPECT_FALSE(is_linked());
  EXPECT_THAT(root.text(kUnit), Not(HasSubstr("boot-complete")));
  const auto without = root.tree();
  want("  boot_gate: true\n");
  ASSERT_EQ(root.run({"apply"}).code, 0);
  ASSERT_TRUE(is_linked());
  want("  boot_gate: false\n");
  ASSERT_EQ(root.run({"apply"}).code, 0);
  EXPECT_FALSE(is_linked());
  EXPECT_EQ(root.text(kUnit), without.at(kUnit).substr(without.at(kUnit).find(' ') + 1));
  want("  boot_gate: true\n");
  ASSERT_EQ(root.run({"apply"}).code, 0);
  ASSERT_EQ(root.run({"remove", "--all"}).code, 0);
  EXPECT_FALSE(fs::exists(root.path("etc/systemd/system/boot-complete.target.requires")));
}

TEST_F(BootGate, ComesBackWithARollbackToAGenerationThatHasIt) {
  want("  boot_gate: true\n");
  ASSERT_EQ(root.run({"apply"}).code, 0);
  want("");
  ASSERT_EQ(root.run({"apply"}).code, 0);
  const Ran back = root.run({"rollback"});
  EXPECT_EQ(back.code, 0) << back.out << back.err;
  EXPECT_TRUE(is_linked());
  EXPECT_EQ(root.run({"apply", "--boot"}).code, 0);
  EXPECT_TRUE(is_linked()) << "a boot keeps it";
}

TEST_F(BootGate, IsTrueOrFalse) {
  want("  boot_gate: yes\n");
  const Ran plan = root.run({"plan"});
  EXPECT_EQ(plan.code, 1);
  EXPECT_THAT(plan.err, AllOf(HasSubstr("host.yaml:5:14"), HasSubstr("boot_gate")));
  EXPECT_THAT(root.bare({"explain", "--schema"}).out, HasSubstr("boot_gate"));
}

}  // namespace
}  // namespace slipway
