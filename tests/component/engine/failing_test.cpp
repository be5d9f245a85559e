// SPDX-License-Identifier: Apache-2.0
// A component that does not work after its apply: every command reports it until it works.
#include "scratch_host.hpp"

namespace slipway {
namespace {

using slipway::testing::Ran;
using slipway::testing::ScratchHost;
using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr const char* kProbe = "    probe: {files: {/etc/probe.conf: \"one\\n\"}}\n";
constexpr const char* kBoth = "    probe: {files: {/etc/probe.conf: \"one\\n\"}}\n    bystander: {}\n";

/// A host with an applied probe that does not work, because /etc/probe-broken exists.
class Failing : public ::testing::Test {
 protected:
  void apply_broken(const char* components) const {
    host.spec(components);
    host.put("etc/probe-broken", "");
    const Ran first = host.slipway({"apply"});
    ASSERT_EQ(first.code, 1) << first.out << first.err;
    ASSERT_THAT(first.out, HasSubstr("probe: failed (it does not work: probe.works)"));
  }
  void mend() const { std::filesystem::remove(host.path("etc/probe-broken")); }
  Ran apply_only(const std::string& component) const {
    return host.slipway({"apply", "--only", component, "-f", host.folder().at("host.yaml").string()});
  }
  const std::string record = "var/lib/slipway/failing.json";
  ScratchHost host;
};

// Before the fix, the second apply said "Nothing to do" and exited with 0, while verify exited with 1.
TEST_F(Failing, IsReportedByEachApplyUntilItWorks) {
  apply_broken(kProbe);
  const auto after = host.tree();
  for (int i = 0; i < 2; ++i) {
    const Ran again = host.slipway({"apply"});
    EXPECT_EQ(again.code, 1) << again.out;
    EXPECT_THAT(again.out, HasSubstr("probe: failed (it still does not work: probe.works)"));
    EXPECT_THAT(again.out, HasSubstr("probe.works: it is broken"));
    EXPECT_THAT(again.out, Not(HasSubstr("Nothing to do")));
    EXPECT_EQ(host.tree(), after);
  }
  mend();
  const Ran mended = host.slipway({"apply"});
  EXPECT_EQ(mended.code, 0) << mended.out << mended.err;
  EXPECT_THAT(mended.out, HasSubstr("Nothing to do"));
  EXPECT_FALSE(std::filesystem::exists(host.path(record)));
  EXPECT_THAT(host.slipway({"apply"}).out, Not(HasSubstr("probe.here"))) << "what works is not verified each time";
}

// A driver for another kernel needs only a reboot; before the fix, components that need the driver failed: the apply
// exited with 1, not 4.
TEST_F(Failing, ExcludesAComponentThatWaitsForTheRebootOfAnother) {
  host.live = true;
  const std::string marker = host.folder().at("rebooted").string();
  host.spec("    probe: {custom: reboots, marker: " + marker + "}\n    follower: {}\n    bystander: {}\n");
  host.put("etc/follower-broken", "");
  for (int i = 0; i < 2; ++i) {
    const Ran apply = host.slipway({"apply"});
    EXPECT_EQ(apply.code, 4) << apply.out << apply.err;
    EXPECT_THAT(apply.out,
                HasSubstr("follower: reboot-required (probe needs a reboot; until then this fails: follower.works)"));
  }
  EXPECT_THAT(host.slipway({"status"}).out, HasSubstr("follower needs a reboot: reboot"));
  host.folder().file("rebooted", "");
  EXPECT_EQ(host.slipway({"apply"}).code, 1) << "the reboot did not help";
  std::filesystem::remove(host.path("etc/follower-broken"));
  EXPECT_EQ(host.slipway({"apply"}).code, 0);
  EXPECT_FALSE(std::filesystem::exists(host.path(record)));
}

// Before the fix, verify and doctor found no problem, and status continued to report the failure.
TEST_F(Failing, IsAWarningUntilTheNextApplyOnceItWorks) {
  apply_broken(kBoth);
  for (const std::string command : {"verify", "doctor"}) EXPECT_EQ(host.slipway({command}).code, 1);
  mend();
  const auto before = host.tree();
  for (const std::string command : {"verify", "doctor"}) {
    const Ran ran = host.slipway({command});
    EXPECT_EQ(ran.code, 0) << ran.out << ran.err;
    EXPECT_THAT(
        ran.out,
        HasSubstr("probe.apply: the component did not work after the last apply, but none of its checks fails now: "
                  "probe.works: it is broken"));
  }
  EXPECT_THAT(host.slipway({"status"}).out,
              ContainsRegex("`slipway doctor [^`]+` tells whether the component works now, "));
  EXPECT_EQ(host.tree(), before) << "those who look change nothing";
  EXPECT_EQ(host.slipway({"apply"}).code, 0);
  EXPECT_FALSE(std::filesystem::exists(host.path(record)));
  EXPECT_THAT(host.slipway({"verify"}).out, Not(HasSubstr("probe.apply")));
  EXPECT_THAT(host.slipway({"status"}).out, Not(HasSubstr("failed")));
}

// Before the fix, verify and doctor reported success for the existing components.
TEST_F(Failing, ThatWasNeverAppliedKeepsTheHostFromBeingVerified) {
  host.spec(std::string(kProbe) + "    follower: {needs: /no/such/file}\n");
  ASSERT_EQ(host.slipway({"apply"}).code, 1);
  for (const std::string command : {"verify", "doctor"}) {
    const Ran ran = host.slipway({command});
    EXPECT_EQ(ran.code, 1) << ran.out << ran.err;
    EXPECT_THAT(ran.out, HasSubstr("fail  follower.apply: the last apply left it failed: "));
    EXPECT_THAT(ran.out, HasSubstr("/no/such/file"));
    EXPECT_EQ(host.slipway({command, "--only", "probe"}).code, 0);
    EXPECT_EQ(host.slipway({command, "--only", "follower"}).code, 1) << "it can be named";
  }
  // Before the fix, verify advised `slipway apply`, which forgot the failed component.
  EXPECT_THAT(host.slipway({"verify"}).out, ContainsRegex("slipway apply [^`]*-f host.yaml` again"));
  EXPECT_EQ(host.bare({"apply", "--without-slipway", "--root", host.path("").string()}).code, 0);
  EXPECT_EQ(host.slipway({"verify"}).code, 1);
  host.spec(kProbe);
  EXPECT_EQ(host.slipway({"apply", "-f", host.folder().at("host.yaml").string()}).code, 0);
  EXPECT_EQ(host.slipway({"verify"}).code, 0);
}

// The same for a component that an apply added, and removed again because it did not work.
TEST_F(Failing, ThatWasRemovedKeepsTheHostFromBeingVerified) {
  host.spec("    bystander: {}\n");
  ASSERT_EQ(host.slipway({"apply"}).code, 0);
  host.spec(kBoth);
  host.put("etc/probe-broken", "");
  ASSERT_EQ(host.slipway({"apply"}).code, 1);
  mend();
  for (const std::string command : {"verify", "doctor"}) {
    const Ran ran = host.slipway({command});
    EXPECT_EQ(ran.code, 1) << ran.out << ran.err;
    EXPECT_THAT(ran.out, HasSubstr("fail  probe.apply: the last apply left it failed: it does not work: probe.works"));
  }
  EXPECT_EQ(host.slipway({"apply"}).code, 0);
  EXPECT_EQ(host.slipway({"verify"}).code, 0);
}

// Before the fix, a file of two million brackets overflowed the stack when it was printed or copied.
TEST_F(Failing, RecordThatNestsWithoutEndIsAnErrorAndNoCrash) {
  apply_broken(kProbe);
  host.put(record, "{\"probe\": " + std::string(2'000'000, '['));
  for (const char* command : {"status", "plan", "apply", "verify", "doctor"}) {
    const Ran ran = host.slipway({command});
    EXPECT_EQ(ran.code, 1) << command;
    EXPECT_THAT(ran.out + ran.err, HasSubstr("nested too deep")) << command;
  }
}

TEST_F(Failing, IsReportedByPlanStatusVerifyAndDoctorToo) {
  apply_broken(kProbe);
  const Ran plan = host.slipway({"plan"});
  EXPECT_EQ(plan.code, 0);
  EXPECT_THAT(plan.out, HasSubstr("did not work after the last apply (probe.works: it is broken)"));
  EXPECT_THAT(plan.out, Not(HasSubstr("Nothing to do")));
  EXPECT_EQ(Json::parse(host.slipway({"plan", "-o", "json"}).out)["components"][0]["failing"]["state"], "failed");
  EXPECT_THAT(host.slipway({"status"}).out, HasSubstr("failed at the last apply: probe.works: it is broken"));
  const Json status = Json::parse(host.slipway({"status", "-o", "json"}).out);
  EXPECT_EQ(status["components"]["probe"]["failing"]["findings"][0]["name"], "probe.works");
  EXPECT_EQ(host.slipway({"verify"}).code, 1);
  EXPECT_EQ(host.slipway({"doctor"}).code, 1);
  mend();
  ASSERT_EQ(host.slipway({"apply"}).code, 0);
  EXPECT_THAT(host.slipway({"plan"}).out, HasSubstr("Nothing to do"));
  EXPECT_THAT(host.slipway({"status"}).out, Not(HasSubstr("failed")));
  EXPECT_EQ(host.slipway({"verify"}).code, 0);
}

TEST_F(Failing, IsVerifiedWithOnly) {
  apply_broken(kBoth);
  EXPECT_EQ(apply_only("bystander").code, 0);
  EXPECT_EQ(apply_only("probe").code, 1);
  EXPECT_EQ(host.slipway({"apply"}).code, 1) << "an apply of another component does not make it well";
}

TEST_F(Failing, IsReportedByAnApplyThatChangesAnotherComponent) {
  apply_broken(kProbe);
  host.spec(kBoth);
  const Ran apply = host.slipway({"apply"});
  EXPECT_EQ(apply.code, 1) << apply.out;
  EXPECT_THAT(apply.out, HasSubstr("probe: failed (it still does not work: probe.works)"));
  EXPECT_THAT(apply.out, HasSubstr("bystander: changed"));
}

TEST_F(Failing, IsReportedByARollbackThatLeavesItAsItIs) {
  apply_broken(kProbe);
  host.spec(kBoth);
  ASSERT_EQ(host.slipway({"apply"}).code, 1);
  const Ran back = host.slipway({"rollback"});
  EXPECT_EQ(back.code, 1) << back.out;
  EXPECT_THAT(back.out, HasSubstr("probe: failed (it still does not work: probe.works)"));
  mend();
  EXPECT_EQ(host.slipway({"apply"}).code, 0);
}

TEST_F(Failing, DoesNotPreventRemovals) {
  apply_broken(kBoth);
  const Ran other = host.slipway({"remove", "bystander"});
  EXPECT_EQ(other.code, 0) << other.out << other.err;
  EXPECT_THAT(host.slipway({"status"}).out, HasSubstr("failed at the last apply"));
  const Ran own = host.slipway({"remove", "probe"});
  EXPECT_EQ(own.code, 0) << own.out << own.err;
  EXPECT_FALSE(std::filesystem::exists(host.path("var/lib/slipway")));
}

// Before the fix, the component counted as in place, so that the next apply had nothing to do and never verified it.
TEST_F(Failing, IsNoticedWhenVerifyItselfDied) {
  host.spec(kProbe);
  host.put("etc/probe-crash", "");
  ASSERT_EQ(host.slipway({"apply"}).code, 1);
  EXPECT_THAT(host.slipway({"status"}).out, HasSubstr("failed at the last apply"));
  const Ran again = host.slipway({"apply"});
  EXPECT_EQ(again.code, 1) << again.out;
  std::filesystem::remove(host.path("etc/probe-crash"));
  EXPECT_EQ(host.slipway({"apply"}).code, 0);
  EXPECT_FALSE(std::filesystem::exists(host.path(record)));
}

TEST_F(Failing, IsForgottenOnceAFailedChangeSucceeds) {
  host.live = true;
  host.spec("    probe: {files: {/etc/probe.conf: x}}\n    bystander: {}\n");
  ASSERT_EQ(host.slipway({"apply"}).code, 0);
  host.spec("    probe: {files: {/etc/probe.conf: y}, custom: fails}\n    bystander: {}\n");
  ASSERT_EQ(host.slipway({"apply"}).code, 1);
  EXPECT_THAT(host.slipway({"status"}).out, HasSubstr("failed at the last apply: the custom action was told to fail"));
  const Ran verify = host.slipway({"verify", "-f", host.folder().at("host.yaml").string()});
  EXPECT_EQ(verify.code, 1);
  EXPECT_THAT(verify.out, HasSubstr("probe.apply: the last apply left it failed"));
  host.spec("    probe: {files: {/etc/probe.conf: y}}\n    bystander: {}\n");
  EXPECT_EQ(host.slipway({"apply"}).code, 0);
  EXPECT_EQ(host.slipway({"verify"}).code, 0);
}

// Before the fix, verify failed on a node that had reverted an upgrade, although the former version was back and
// worked.
TEST_F(Failing, ThatWasUndoneIsAWarningOfAVerifyOfTheActiveGeneration) {
  host.live = true;
  host.spec(kProbe);
  ASSERT_EQ(host.slipway({"apply"}).code, 0);
  host.spec("    probe: {files: {/etc/probe.conf: y}, custom: fails}\n");
  ASSERT_EQ(host.slipway({"apply"}).code, 1);
  for (const std::string command : {"verify", "doctor"}) {
    const Ran ran = host.slipway({command});
    EXPECT_EQ(ran.code, 0) << ran.out << ran.err;
    EXPECT_THAT(ran.out, HasSubstr("warning  probe.apply: the last apply left it failed"));
  }
  EXPECT_EQ(host.slipway({"apply"}).code, 1);
  host.put("etc/probe-broken", "");
  EXPECT_EQ(host.slipway({"verify"}).code, 1);
}

// Before the fix, status reported that a component worked although it could no longer be planned.
TEST_F(Failing, DuringPlanningIsReportedByStatusAndForgottenWithTheFormerSpec) {
  const std::string well = std::string(kProbe) + "    follower: {}\n";
  host.spec(well);
  ASSERT_EQ(host.slipway({"apply"}).code, 0);
  const auto before = host.tree();
  host.spec(std::string(kProbe) + "    follower: {needs: /no/such/file}\n");
  ASSERT_EQ(host.slipway({"apply"}).code, 1);
  EXPECT_THAT(host.slipway({"status"}).out, HasSubstr("    failed at the last apply: "));
  EXPECT_THAT(host.slipway({"status"}).out, HasSubstr("/no/such/file"));
  const std::string spec = host.folder().at("host.yaml").string();
  const Ran wanted = host.slipway({"verify", "-f", spec});
  EXPECT_EQ(wanted.code, 1);
  EXPECT_THAT(wanted.out, HasSubstr("follower.apply: the last apply left it failed"));
  const Ran in_force = host.slipway({"verify"});
  EXPECT_EQ(in_force.code, 0) << in_force.out;
  EXPECT_THAT(in_force.out, HasSubstr("warning  follower.apply: the last apply left it failed"));
  host.spec(well);
  EXPECT_EQ(host.slipway({"apply"}).code, 0);
  EXPECT_EQ(host.tree(), before);
}

// No generation has the spec of a failed apply: before the fix, the advised `slipway apply` repeated the previous spec.
TEST_F(Failing, IsAdvisedToBeRepeatedWithTheSpecThatFailed) {
  host.spec(std::string(kProbe) + "    follower: {}\n");
  ASSERT_EQ(host.slipway({"apply"}).code, 0);
  host.folder().file("next.yaml",
                     "apiVersion: slipway.dev/v1\nkind: Host\nmetadata: {name: test}\nspec:\n  components:\n" +
                         std::string(kProbe) + "    follower: {needs: /no/such/file}\n");
  ASSERT_EQ(host.slipway({"apply", "-f", host.folder().at("next.yaml").string()}).code, 1);
  const std::string again = "`slipway apply --root " + host.folder().at("root").string() + " -f next.yaml`";
  EXPECT_THAT(host.slipway({"verify"}).out, HasSubstr(again + " again")) << "of an image the name alone is kept";
  EXPECT_THAT(host.slipway({"status"}).out, HasSubstr(again + " tries again"));
  const std::string other = host.folder().at("host.yaml").string();
  EXPECT_THAT(host.slipway({"verify", "-f", other}).out,
              HasSubstr("slipway apply --root " + host.folder().at("root").string() + " -f " + other));
}

TEST_F(Failing, RecordThatIsDamagedIsNamedWithTheRemedy) {
  apply_broken(kProbe);
  host.put(record, "no JSON");
  const Ran apply = host.slipway({"apply"});
  EXPECT_EQ(apply.code, 1);
  EXPECT_THAT(apply.err, HasSubstr(record));
  EXPECT_THAT(apply.err, HasSubstr("slipway repair"));
}

// Before the fix, an apply whose disk failed at the very end noted the boot unit, which no plugin verifies: the note
// stayed for good.
TEST_F(Failing, OfTheBootUnitEndsWhenItMatchesThePlan) {
  host.spec(kProbe);
  ASSERT_EQ(host.slipway({"apply"}).code, 0);
  const auto before = host.tree();
  host.put(record, R"({"slipway-boot": {"error": "cannot sync: Input/output error", "state": "failed"}})");
  ASSERT_THAT(host.slipway({"status"}).out, HasSubstr("slipway-boot failed: `slipway doctor"));
  EXPECT_EQ(host.slipway({"apply"}).code, 0);
  EXPECT_EQ(host.tree(), before);
}

// Before the fix, `status` said that nothing was provisioned, above a list of installed components.
TEST_F(Failing, DoesNotHideInstalledComponentsInStatus) {
  host.live = true;
  host.spec("    probe: {files: {/etc/probe.conf: y}, custom: fails}\n    bystander: {}\n");
  ASSERT_EQ(host.slipway({"apply"}).code, 1);
  const Ran status = host.slipway({"status"});
  EXPECT_THAT(status.out, Not(HasSubstr("Nothing is provisioned")));
  EXPECT_THAT(status.out, HasSubstr("Generation 1 is active"));
  EXPECT_THAT(status.out, HasSubstr("  bystander  applied"));
}

}  // namespace
}  // namespace slipway
