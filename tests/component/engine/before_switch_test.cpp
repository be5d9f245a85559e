// SPDX-License-Identifier: Apache-2.0
// A custom action that frees a device before the component's files are switched: what stays as it was unless it begins,
// and what is done when the apply fails later.
#include "tests/component/engine/scratch_host.hpp"

namespace slipway {
namespace {

using slipway::testing::Ran;
using slipway::testing::ScratchHost;
using ::testing::HasSubstr;
using ::testing::Not;

/// A live root with a probe that has applied "one", and an action before the switch to "two".
class BeforeSwitch : public ::testing::Test {
 protected:
  BeforeSwitch() {
    host.live = true;
    host.spec("    probe: {files: {/etc/probe.conf: one}, custom: none}\n");
    EXPECT_EQ(host.slipway({"apply"}).code, 0);
  }
  /// @param how   of the action before the switch @param last  of the probe's own action, at the end
  Ran apply(const std::string& how, const std::string& last = "none", const std::string& command = "apply") const {
    Json free{{"kind", "custom"},
              {"target", "free"},
              {"data", {{"how", how}, {"marker", freed}, {"in_use", in_use}}},
              {"irreversible", "a step"},
              {"before_switch", true},
              {"on_failure", {{"how", "back"}, {"marker", back}}},
              {"because", "two is to be loaded"},
              {"interrupts", "driver reload"}};
    host.spec("    probe: {files: {/etc/probe.conf: two}, custom: " + last + ", marker: " + done + ", raw: ['" +
              free.dump() + "']}\n");
    return host.slipway({command});
  }
  static bool exists(const std::string& file) { return std::filesystem::exists(file); }

  ScratchHost host;
  const std::string freed = host.folder().at("freed").string();
  const std::string back = host.folder().at("back").string();
  const std::string done = host.folder().at("done").string();
  const std::string in_use = host.folder().at("in-use").string();
};

TEST_F(BeforeSwitch, IsDoneWithTheChangeAndNotRecorded) {
  const Ran ran = apply("works");
  EXPECT_EQ(ran.code, 0) << ran.out << ran.err;
  EXPECT_EQ(host.text("etc/probe.conf"), "two");
  EXPECT_TRUE(exists(freed));
  EXPECT_FALSE(exists(back));
  host.spec("    probe: {files: {/etc/probe.conf: two}, custom: none}\n");
  const Ran plan = host.slipway({"plan"});
  EXPECT_EQ(plan.code, 0) << "a step that is planned no more is not undone: " << plan.out;
}

TEST_F(BeforeSwitch, LeavesEverythingAsItIsWhileItWaits) {
  host.folder().file("in-use", "");
  const Ran ran = apply("waits");
  EXPECT_EQ(ran.code, 3) << ran.out << ran.err;
  EXPECT_THAT(ran.out, HasSubstr("probe: waiting (the probe's device is in use; held by python3 (pid 7))"));
  EXPECT_EQ(host.text("etc/probe.conf"), "one");
  EXPECT_EQ(host.slipway({"plan"}).code, 2) << "the change is still to be made";
  std::filesystem::remove(in_use);
  EXPECT_EQ(host.slipway({"apply"}).code, 0);
  EXPECT_EQ(host.text("etc/probe.conf"), "two");
}

TEST_F(BeforeSwitch, LeavesEverythingAsItIsUntilAReboot) {
  EXPECT_EQ(apply("reboots").code, 4);
  EXPECT_EQ(host.text("etc/probe.conf"), "one");
}

TEST_F(BeforeSwitch, StopsTheChangeWhenItFails) {
  const Ran ran = apply("fails");
  EXPECT_EQ(ran.code, 1);
  EXPECT_THAT(ran.err, HasSubstr("the custom action was told to fail"));
  EXPECT_EQ(host.text("etc/probe.conf"), "one");
  EXPECT_TRUE(exists(back)) << "it may have freed the device";
}

TEST_F(BeforeSwitch, IsTakenBackAfterTheFilesWhenALaterActionFails) {
  const Ran ran = apply("works", "fails");
  EXPECT_EQ(ran.code, 1);
  EXPECT_THAT(ran.err, Not(HasSubstr("not restored")));
  EXPECT_EQ(host.text("etc/probe.conf"), "one");
  EXPECT_TRUE(exists(freed));
  EXPECT_TRUE(exists(back));
}

TEST_F(BeforeSwitch, IsInThePlanWithWhatItInterrupts) {
  EXPECT_THAT(apply("works", "none", "plan").out,
              HasSubstr("\ninterruption: driver reload (probe: two is to be loaded)\n"));
  const Json json = Json::parse(host.slipway({"plan", "-o", "json"}).out);
  EXPECT_EQ(json["interruption"], (Json{{"level", "driver reload"}, {"why", {"probe: two is to be loaded"}}}));
}

TEST(Interruption, IsTheLeastThatThePlanNeeds) {
  ScratchHost host;
  host.spec("    probe: {files: {/etc/probe.conf: one}, custom: none}\n");
  EXPECT_THAT(host.slipway({"plan"}).out, Not(HasSubstr("interruption"))) << "an image interrupts nothing";
  host.live = true;
  EXPECT_THAT(host.slipway({"plan"}).out, HasSubstr("\ninterruption: none\n"));
  host.spec("    probe: {files: {/etc/probe.conf: one}, trigger: \"restart:acme.service\", custom: none}\n");
  EXPECT_THAT(host.slipway({"plan"}).out, HasSubstr("\ninterruption: services (probe: restart:acme.service)\n"));
}

}  // namespace
}  // namespace slipway
