// SPDX-License-Identifier: Apache-2.0
// A change that does not work: the component goes back to what the active generation has.
#include "scratch_host.hpp"

namespace slipway {
namespace {

using slipway::testing::Ran;
using slipway::testing::ScratchHost;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr const char* kGood = "    probe: {files: {/etc/probe.conf: good}}\n    bystander: {}\n";
// While that file exists the probe does not work: the applied change causes its own failure.
constexpr const char* kBad = "    probe: {files: {/etc/probe.conf: bad, /etc/probe-broken: x}}\n    bystander: {}\n";

class GoingBack : public ::testing::Test {
 protected:
  void apply_good() const {
    host.spec(kGood);
    const Ran good = host.slipway({"apply"});
    ASSERT_EQ(good.code, 0) << good.out << good.err;
  }
  bool is_good() const {
    return host.text("etc/probe.conf") == "good" && !std::filesystem::exists(host.path("etc/probe-broken"));
  }
  ScratchHost host;
};

// Before the fix, "driver: failed" was printed beside "Generation 2 is active".
TEST_F(GoingBack, UndoesAChangeThatDoesNotWork) {
  apply_good();
  const auto before = host.tree();
  host.spec(kBad);
  const Ran bad = host.slipway({"apply"});
  EXPECT_EQ(bad.code, 1);
  EXPECT_THAT(bad.out,
              HasSubstr("probe: failed (it does not work: probe.works; it was set back to its state in generation 1)"));
  EXPECT_THAT(bad.out, HasSubstr("Generation 1 is active"));
  EXPECT_TRUE(is_good()) << bad.out << bad.err;
  auto after = host.tree();
  EXPECT_EQ(after.erase("var/lib/slipway/failing.json"), 1U);
  EXPECT_EQ(after, before) << "nothing but the memory of the failure is left";
}

TEST_F(GoingBack, IsRememberedUntilAnApplySucceeds) {
  apply_good();
  host.spec(kBad);
  ASSERT_EQ(host.slipway({"apply"}).code, 1);
  EXPECT_THAT(host.slipway({"status"}).out, HasSubstr("it was set back to its state in generation 1"));
  EXPECT_EQ(host.slipway({"verify"}).code, 0) << "the active generation works";
  EXPECT_EQ(host.slipway({"verify", "-f", host.folder().at("host.yaml").string()}).code, 1);
  EXPECT_EQ(host.slipway({"apply"}).code, 1) << "the same change fails again";
  EXPECT_TRUE(is_good());
  host.spec(kGood);
  EXPECT_EQ(host.slipway({"apply"}).code, 0);
  EXPECT_THAT(host.slipway({"status"}).out, Not(HasSubstr("failed")));
}

TEST_F(GoingBack, RemovesAComponentThatTheActiveGenerationDoesNotHave) {
  host.spec("    bystander: {}\n");
  ASSERT_EQ(host.slipway({"apply"}).code, 0);
  host.spec(kBad);
  const Ran bad = host.slipway({"apply"});
  EXPECT_EQ(bad.code, 1) << bad.out;
  EXPECT_FALSE(std::filesystem::exists(host.path("etc/probe.conf"))) << bad.out << bad.err;
  EXPECT_THAT(bad.out, HasSubstr("Generation 1 is active"));
}

TEST_F(GoingBack, IsNotDoneWhereTheSpecKeepsFailedChanges) {
  apply_good();
  host.spec(kBad);
  host.folder().file("host.yaml",
                     "apiVersion: slipway.dev/v1\nkind: Host\nmetadata: {name: test}\nspec:\n"
                     "  on_failed_verify: keep\n  components:\n" +
                         std::string(kBad));
  const Ran bad = host.slipway({"apply"});
  EXPECT_EQ(bad.code, 1);
  EXPECT_THAT(bad.out, HasSubstr("Generation 2 is active"));
  EXPECT_EQ(host.text("etc/probe.conf"), "bad");
}

// A lost GPU fails the driver's verify before and after an upgrade: reverting would not help.
TEST_F(GoingBack, IsNotDoneForComponentsThatFailedBefore) {
  host.put("etc/probe-broken", "");
  host.spec("    probe: {files: {/etc/probe.conf: one}}\n");
  ASSERT_EQ(host.slipway({"apply"}).code, 1);
  host.spec("    probe: {files: {/etc/probe.conf: two}}\n");
  const Ran second = host.slipway({"apply"});
  EXPECT_EQ(second.code, 1);
  EXPECT_THAT(second.out, HasSubstr("Generation 2 is active"));
  EXPECT_EQ(host.text("etc/probe.conf"), "two");
}

TEST_F(GoingBack, HasNoTargetInAFirstApply) {
  host.spec(kBad);
  const Ran first = host.slipway({"apply"});
  EXPECT_EQ(first.code, 1);
  EXPECT_EQ(host.text("etc/probe.conf"), "bad");
  EXPECT_THAT(first.out, HasSubstr("Generation 1 is active"));
}

// Before the fix, the reverted generation was planned for the kernel and hardware of the failed run.
TEST_F(GoingBack, UsesTheKernelAndTheHardwareOfThatGeneration) {
  for (const char* release : {"6.1.0-1-amd64", "6.1.0-2-amd64"})
    std::filesystem::create_directories(host.path("usr/lib/modules/" + std::string(release)));
  const auto spec = [&](const std::string& hardware, const std::string& files) {
    host.folder().file(
        "host.yaml", "apiVersion: slipway.dev/v1\nkind: Host\nmetadata: {name: test}\nspec:\n  hardware: " + hardware +
                         "\n  components:\n    probe: {kernel: true, files: {" + files + "}}\n");
  };
  spec("assume", "/etc/probe.conf: good");
  const Ran good = host.slipway({"apply", "--kernel", "6.1.0-1-amd64"});
  ASSERT_EQ(good.code, 0) << good.out << good.err;
  ASSERT_EQ(host.text("etc/probe-kernel"), "6.1.0-1-amd64 assume");
  spec("detect", "/etc/probe.conf: bad, /etc/probe-broken: x");
  const Ran bad = host.slipway({"apply", "--kernel", "6.1.0-2-amd64"});
  EXPECT_EQ(bad.code, 1) << bad.out << bad.err;
  EXPECT_THAT(bad.out, HasSubstr("Generation 1 is active"));
  EXPECT_EQ(host.text("etc/probe-kernel"), "6.1.0-1-amd64 assume");
  EXPECT_TRUE(is_good());
}

TEST_F(GoingBack, SaysThatTheFormerStateDoesNotWorkEither) {
  apply_good();
  host.put("etc/probe-broken", "");  // not slipway's file: it stays
  host.spec("    probe: {files: {/etc/probe.conf: bad}}\n    bystander: {}\n");
  const Ran bad = host.slipway({"apply"});
  EXPECT_EQ(bad.code, 1);
  EXPECT_EQ(host.text("etc/probe.conf"), "good");
  EXPECT_THAT(bad.out, HasSubstr("it was set back to its state in generation 1, which does not work either"));
  EXPECT_THAT(bad.out, HasSubstr("Generation 1 is active"));
}

TEST_F(GoingBack, LeavesTheOtherChangesOfTheApply) {
  apply_good();
  host.spec("    probe: {files: {/etc/probe.conf: bad, /etc/probe-broken: x}}\n    follower: {file: /etc/follower}\n");
  const Ran bad = host.slipway({"apply"});
  EXPECT_EQ(bad.code, 1) << bad.out << bad.err;
  EXPECT_TRUE(is_good());
  EXPECT_TRUE(std::filesystem::exists(host.path("etc/follower"))) << bad.out << bad.err;
}

}  // namespace
}  // namespace slipway
