// SPDX-License-Identifier: Apache-2.0
// The findings of `slipway doctor` on a node with partitioned GPUs.
#include <csignal>
#include <fstream>

#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "child.hpp"

namespace slipway {
namespace {

using slipway::testing::MigNode;
using slipway::testing::Ran;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

TEST(MigDoctor, FindsNothingAfterAnApply) {
  const MigNode node("h100x2");
  ASSERT_EQ(node.apply("all-balanced").code, 0);
  const Ran ran = node.slipway({"doctor"});
  EXPECT_EQ(ran.code, 0) << ran.out << ran.err;
  EXPECT_THAT(ran.out, Not(HasSubstr("  mig.")));
}

// Before the fix, a manual change of MIG gave three entries, with mig.owned and a plan above the cause.
TEST(MigDoctor, FindsAGpuThatLostItsInstances) {
  const MigNode node("h100x2");
  ASSERT_EQ(node.apply("all-balanced").code, 0);
  ASSERT_EQ(node.sim("gpu 1 mig off").code, 0);
  ASSERT_EQ(node.sim("gpu 1 mig on").code, 0);
  const Ran ran = node.slipway({"doctor"});
  EXPECT_EQ(ran.code, 1) << ran.out << ran.err;
  EXPECT_THAT(ran.out, AllOf(HasSubstr("  fail  mig.layout: GPU 1 (0000:2a:00.0)"), HasSubstr("do: run `slipway apply"),
                             HasSubstr("leads to mig.owned"), HasSubstr("leads to mig.no-instances")));
  EXPECT_THAT(ran.out, HasSubstr("no program can use GPU 1 (0000:2a:00.0)"));
  EXPECT_THAT(ran.out, HasSubstr("1 thing is wrong"));
  EXPECT_EQ(node.slipway({"apply"}).code, 0);
  EXPECT_EQ(node.slipway({"doctor"}).code, 0);
}

TEST(MigDoctor, NamesAGpuThatIsLost) {
  const MigNode node("h100x2");
  ASSERT_EQ(node.apply("all-balanced").code, 0);
  ASSERT_EQ(node.sim("gpu 1 lost").code, 0);
  const Ran lost = node.slipway({"doctor"});
  EXPECT_EQ(lost.code, 1);
  EXPECT_THAT(lost.out, HasSubstr("fail  mig.layout: the driver cannot reach GPU 1 (0000:2a:00.0)"));
  ASSERT_EQ(node.sim("gpu 1 found").code, 0);
  EXPECT_EQ(node.slipway({"doctor"}).code, 0);
}

// Before the fix, the finding had the change of the last apply: "MIG disabled -> 7 x 1g.10gb".
TEST(MigDoctor, ReportsDifferentLayouts) {
  const MigNode node("h100x1");
  ASSERT_EQ(node.apply("all-1g.10gb").code, 0);
  ASSERT_EQ(node.sim("gpu 0 mig off").code, 0);
  const Ran ran = node.slipway({"doctor"});
  EXPECT_EQ(ran.code, 1);
  EXPECT_THAT(ran.out, HasSubstr("mig.owned: not as slipway left it: MIG layouts"));
  EXPECT_THAT(ran.out, Not(HasSubstr("->")));
}

// Before the fix, doctor advised to plan, to apply and to reboot, although only the reboot helps.
TEST(MigDoctor, AdvisesARebootForADeferredChange) {
  const MigNode node("h100x2");
  node.section("config: all-balanced, drain: next-boot");
  ASSERT_EQ(node.slipway({"apply"}).code, 4);
  const Ran ran = node.slipway({"doctor"});
  EXPECT_THAT(ran.out, HasSubstr("do: reboot\n"));
  EXPECT_THAT(ran.out, HasSubstr("by the drain policy next-boot"));
  EXPECT_THAT(ran.out, Not(HasSubstr("slipway plan")));
  EXPECT_THAT(ran.out, Not(HasSubstr("slipway apply")));
}

TEST(MigDoctor, UsesTheConfigThatALabelNames) {
  const MigNode node("h100x1");
  node.host().put("etc/labels", "nvidia.com/mig.config=all-7g.80gb\n");
  node.section("config: all-enabled, label_file: /etc/labels");
  ASSERT_EQ(node.slipway({"apply"}).code, 0);
  EXPECT_EQ(node.slipway({"doctor"}).code, 0);
  ASSERT_EQ(node.sim("gpu 0 mig off").code, 0);
  ASSERT_EQ(node.sim("gpu 0 mig on").code, 0);
  const Ran ran = node.slipway({"doctor"});
  EXPECT_EQ(ran.code, 1);
  EXPECT_THAT(ran.out, HasSubstr("leads to mig.no-instances")) << ran.out;
  EXPECT_THAT(ran.out, HasSubstr("has another layout than the config all-7g.80gb says"));
}

TEST(MigDoctor, FindsGpusThatTheConfigLeavesOutAndAnotherManager) {
  const MigNode node("h100x2,mig=1g.10gb");
  node.section(
      "config: first, configs: {version: v1, mig-configs: {first: [{devices: [0], mig-enabled: true, "
      "mig-devices: {7g.80gb: 1}}]}}");
  ASSERT_EQ(node.slipway({"apply"}).code, 0);
  node.host().put("etc/systemd/system/multi-user.target.wants/nvidia-mig-manager.service", "");
  const Ran ran = node.slipway({"doctor"});
  EXPECT_EQ(ran.code, 1) << ran.out << ran.err;
  EXPECT_THAT(ran.out, HasSubstr("fail  mig.other-manager: nvidia-mig-manager.service is enabled"));
  EXPECT_THAT(ran.out, HasSubstr("warning  mig.unmanaged: no entry of the config first selects GPU 1"));
}

TEST(MigDoctor, WarnsOfAMissingGpuAndOfAConfigWithoutGpus) {
  const MigNode node("h100x2");
  const auto config = [](const std::string& entries) {
    return "config: it, configs: {version: v1, mig-configs: {it: [" + entries + "]}}";
  };
  node.section(config("{devices: [0], mig-enabled: false}, {devices: [11], mig-enabled: false}"));
  ASSERT_EQ(node.slipway({"apply"}).code, 0);
  EXPECT_THAT(node.slipway({"verify"}).out, HasSubstr("warning  mig.config: "));
  EXPECT_THAT(node.slipway({"doctor"}).out, HasSubstr("there is no GPU 11, since this machine has 2"));
  node.section(config("{devices: all, device-filter: \"0x20B210DE\", mig-enabled: false}"));
  EXPECT_THAT(node.slipway({"plan"}).out, HasSubstr("no entry of this config selects a GPU of this machine"));
  ASSERT_EQ(node.slipway({"apply"}).code, 0);
  const Ran none = node.slipway({"verify"});
  EXPECT_THAT(none.out, HasSubstr("none of its device filters matches 0x233010DE"));
  EXPECT_THAT(none.out, Not(HasSubstr("0 GPUs have")));
}

// Before the fix, a reset was advised in three ways, two of them without an address, together with an apply that would
// change nothing.
TEST(MigDoctor, HasOneAdviceForGpusThatWaitForAReset) {
  const MigNode node("a100-80x2");
  ASSERT_EQ(node.plan("all-1g.10gb").code, 2);
  ASSERT_EQ(node.sim("gpu all no-reset on").code, 0);
  const Ran applied = node.apply("all-1g.10gb");
  EXPECT_EQ(applied.code, 4) << applied.out << applied.err;
  const std::string reset = "`nvidia-smi --gpu-reset -i 0000:07:00.0,0000:0f:00.0`";
  EXPECT_THAT(applied.out, HasSubstr(reset));
  const Ran ran = node.slipway({"doctor"});
  EXPECT_THAT(ran.out, HasSubstr("mig.layout: GPU 0, 1 (MIG disabled) have another layout"));
  EXPECT_THAT(ran.out, HasSubstr("mig.reset: a change of the MIG mode waits for a reset of GPU 0, 1"));
  EXPECT_THAT(ran.out, HasSubstr(reset));
  EXPECT_THAT(ran.out, Not(HasSubstr("`nvidia-smi --gpu-reset`")));
  EXPECT_THAT(ran.out, Not(HasSubstr("do: run `slipway apply")));
}

// Before the fix, the policy next-boot and `slipway apply` were advised side by side.
TEST(MigDoctor, IgnoresUsersForADeferredChange) {
  const MigNode node("h100x1,mig=1g.10gb");
  ASSERT_EQ(node.plan("all-7g.80gb").code, 2);
  ASSERT_EQ(node.sim("process add 0 4711 10 compute trainer 9 0").code, 0);
  ASSERT_EQ(node.apply("all-7g.80gb, drain: next-boot").code, 4);
  EXPECT_THAT(node.slipway({"doctor"}).out, Not(HasSubstr("mig.in-use")));
}

// Only the state file differed, but before the fix verify reported different layouts.
TEST(MigDoctor, DoesNotReportAFailedApplyAsAnotherLayout) {
  const MigNode node("h100x1");
  ASSERT_EQ(node.apply("all-1g.10gb, state_file: /etc/features.d/mig").code, 0);
  ASSERT_EQ(node.sim("process add 0 4711 10 compute trainer 9 0").code, 0);
  ASSERT_EQ(node.apply("all-7g.80gb, state_file: /etc/features.d/mig").code, 1);
  node.section("config: all-1g.10gb, state_file: /etc/features.d/mig");
  EXPECT_THAT(node.slipway({"verify"}).out, Not(HasSubstr("not as slipway left it")));
}

// Before the fix, the mistake was reported in the generated configs, or the label was taken for a missing one.
TEST(MigLabels, ThatAreInvalidAreNamed) {
  const MigNode node("h100x1");
  node.section("config: all-1g.10gb, label_file: /etc/labels");
  node.host().put("etc/labels", "nvidia.com/mig.config=all-9g.10gb\n");
  const Ran unknown = node.slipway({"plan"});
  EXPECT_EQ(unknown.code, 1) << unknown.out;
  EXPECT_THAT(unknown.out + unknown.err, HasSubstr("which the label nvidia.com/mig.config names"));
  EXPECT_THAT(unknown.out + unknown.err, HasSubstr("at:    /etc/labels"));
  node.host().put("etc/labels", "nvidia.com/mig-config=all-disabled\n");
  const Ran misspelt = node.slipway({"plan"});
  EXPECT_EQ(misspelt.code, 1) << misspelt.out;
  EXPECT_THAT(misspelt.out + misspelt.err, HasSubstr("'nvidia.com/mig-config' is not the label that names the config"));
}

TEST(MigFiles, ThatAreMissingOrAFolderAreNamedWithTheirKey) {
  const MigNode node("h100x1");
  for (const auto& [keys, key] : {std::pair("file: /etc/none.yaml", "file"),
                                  {"clients_file: /etc/none.yaml", "clients_file"},
                                  {"state_file: /etc", "state_file"}}) {
    node.host().put("etc/hostname", "node\n");
    node.section(std::string("config: all-1g.10gb, ") + keys);
    const Ran ran = node.slipway({"plan"});
    EXPECT_EQ(ran.code, 1) << ran.out;
    EXPECT_THAT(ran.out + ran.err, HasSubstr(std::string("spec.components.mig.") + key));
    EXPECT_THAT(ran.out + ran.err, HasSubstr("do:    name a"));
    EXPECT_THAT(ran.out + ran.err, Not(HasSubstr("dpkg -S")));
  }
}

/// A node where NVIDIA's MIG manager starts at each boot.
class MigOtherManager : public ::testing::Test {
 protected:
  MigOtherManager() { node_.host().put("etc/systemd/system/multi-user.target.wants/nvidia-mig-manager.service", ""); }
  std::filesystem::path unit() const { return node_.host().path("etc/systemd/system/nvidia-mig-manager.service"); }
  const MigNode node_{"h100x1"};
};

TEST_F(MigOtherManager, ManagesTheGpusWhereTheSpecYields) {
  node_.section("config: all-1g.10gb, other_manager: yield");
  const Ran plan = node_.slipway({"plan"});
  EXPECT_THAT(plan.out, HasSubstr("nvidia-mig-manager.service is enabled, and the GPUs are left to it"));
  EXPECT_EQ(node_.slipway({"apply"}).code, 0);
  EXPECT_THAT(node_.instances(), ::testing::ElementsAre("off"));
  EXPECT_EQ(node_.slipway({"plan"}).code, 0);
  EXPECT_THAT(node_.slipway({"doctor"}).out, Not(HasSubstr("mig.other-manager")));
  node_.section("config: all-1g.10gb, other_manager: yield, on_remove: disable");
  const Ran both = node_.slipway({"plan"});
  EXPECT_EQ(both.code, 1);
  EXPECT_THAT(both.out + both.err, HasSubstr("spec.components.mig.on_remove"));
}

/// A process with the name of NVIDIA's manager, like the one in its container.
class NamedChild {
 public:
  NamedChild() : pid_(::fork()) {
    if (pid_ != 0) return;
    ::prctl(PR_SET_NAME, "nvidia-mig-manager");
    for (;;) ::pause();
  }
  NamedChild(const NamedChild&) = delete;
  NamedChild& operator=(const NamedChild&) = delete;
  ~NamedChild() {
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }
  std::string pid() const { return std::to_string(pid_); }
  /// True when the process has taken this name.
  bool is_ready() const {
    std::ifstream in("/proc/" + pid() + "/comm");
    std::string name;
    return std::getline(in, name) && name == "nvidia-mig-mana";
  }
  /// True when this test's processes run like those of a privileged container, or this test runs without root.
  static bool counts() {
    std::ifstream in("/proc/self/status");
    for (std::string line; std::getline(in, line);)
      if (line.starts_with("CapEff:"))
        return ::geteuid() != 0 || ((std::stoull(line.substr(8), nullptr, 16) >> 21U) & 1U) != 0;
    return false;
  }

 private:
  pid_t pid_;
};

TEST(MigRunningManager, IsRefusedUnlessTheGpusAreLeftToIt) {
  const MigNode node("h100x1");
  const NamedChild manager;
  ASSERT_TRUE(slipway::testing::becomes_true([&] { return manager.is_ready(); }));
  ASSERT_EQ(node.plan("all-1g.10gb").code, 2);
  ASSERT_EQ(node.sim("process attach 0 " + manager.pid() + " 0 compute x").code, 0);
  if (!NamedChild::counts()) {
    EXPECT_EQ(node.plan("all-1g.10gb").code, 2) << "it could not change a GPU";
    return;
  }
  const std::string spec = node.host().folder().at("host.yaml").string();
  const auto names_it =
      AllOf(HasSubstr("NVIDIA's MIG manager (pid " + manager.pid()), HasSubstr("other_manager: yield"));
  for (const char* policy : {"report", "take-over"}) {
    node.section(std::string("config: all-1g.10gb, other_manager: ") + policy);
    for (const std::vector<std::string>& words :
         std::vector<std::vector<std::string>>{{"plan"}, {"apply"}, {"verify", "-f", spec}, {"doctor", "-f", spec}}) {
      const Ran ran = node.slipway(words);
      EXPECT_EQ(ran.code, 1) << words.front();
      EXPECT_THAT(ran.out + ran.err, names_it) << words.front();
    }
  }
  EXPECT_THAT(node.slipway({"doctor", "-f", spec}).out, HasSubstr("fail  mig.other-manager: NVIDIA's MIG manager"));
  node.section("config: all-1g.10gb, other_manager: yield");
  EXPECT_EQ(node.slipway({"apply"}).code, 0);
  EXPECT_THAT(node.slipway({"plan"}).out, HasSubstr("is present, and the GPUs are left to it"));
  EXPECT_THAT(node.slipway({"verify"}).out, HasSubstr("not-exercised  mig.layout: NVIDIA's MIG manager"));
  EXPECT_THAT(node.slipway({"doctor"}).out, Not(HasSubstr("mig.other-manager")));
  EXPECT_THAT(node.instances(), ::testing::ElementsAre("off"));
}

TEST_F(MigOtherManager, IsMaskedWhileSlipwayReplacesIt) {
  node_.section("config: all-1g.10gb, other_manager: take-over");
  const Ran ran = node_.slipway({"apply"});
  ASSERT_EQ(ran.code, 0) << ran.out << ran.err;
  EXPECT_EQ(std::filesystem::read_symlink(unit()), "/dev/null");
  EXPECT_EQ(node_.instances().size(), 7U);
  EXPECT_EQ(node_.slipway({"plan"}).code, 0);
  EXPECT_THAT(node_.slipway({"doctor"}).out, Not(HasSubstr("mig.other-manager")));
  node_.section("config: all-1g.10gb");
  ASSERT_EQ(node_.slipway({"apply"}).code, 0);
  EXPECT_FALSE(std::filesystem::is_symlink(unit()));
  EXPECT_THAT(node_.slipway({"doctor"}).out, HasSubstr("fail  mig.other-manager"));
}

TEST_F(MigOtherManager, KeepsAUsedClientsFile) {
  node_.section("config: all-1g.10gb, clients_file: /etc/clients.yaml");
  const Ran missing = node_.slipway({"apply"});
  EXPECT_EQ(missing.code, 1);
  EXPECT_THAT(missing.out + missing.err, HasSubstr("/etc/clients.yaml"));
  node_.host().put("etc/clients.yaml", "version: v1\nsystemd-services: [nvsm]\n");
  const Ran wrong = node_.slipway({"apply"});
  EXPECT_EQ(wrong.code, 1);
  EXPECT_THAT(wrong.out + wrong.err, HasSubstr("'nvsm' is not a service of systemd"));
  node_.host().put("etc/clients.yaml", "version: v1\nsystemd-services: [nvsm.service]\n");
  EXPECT_EQ(node_.slipway({"apply"}).code, 0);
  EXPECT_EQ(node_.instances().size(), 7U);
}

}  // namespace
}  // namespace slipway
