// SPDX-License-Identifier: Apache-2.0
// CDI specs that would not work, and GPUs that come and go: every command that detects it reports it.
#include <cstdlib>

#include "tests/component/cli/driver_root.hpp"

namespace slipway {
namespace {

using slipway::testing::DriverRoot;
using slipway::testing::Ran;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr const char* kMachine = "h100x8,driver=535.261.03";

// Before the fix, the spec was printed without a warning.
TEST(CdiGenerate, WarnsOfAHookProgramThatIsMissing) {
  const DriverRoot root;
  ASSERT_EQ(root.run({"apply"}).code, 0);
  const std::vector<std::string> rest{"generate",
                                      "--sim",
                                      kMachine,
                                      "--root",
                                      root.path("").string(),
                                      "--driver-root",
                                      "/usr/lib/slipway/store/driver/current/userspace",
                                      "--dev-root",
                                      "/"};
  for (const std::vector<std::string>& tool : {std::vector<std::string>{"cdi"}, {"toolkit", "cdi"}}) {
    std::vector<std::string> words = tool;
    words.insert(words.end(), rest.begin(), rest.end());
    const Ran missing = root.bare(words);
    EXPECT_EQ(missing.code, 0) << missing.err;
    EXPECT_THAT(missing.out, HasSubstr("kind: nvidia.com/gpu"));
    EXPECT_THAT(missing.err, HasSubstr("warning: the spec names the hook program /usr/bin/slipway-cdi-hook"));
    EXPECT_THAT(missing.err, HasSubstr("--nvidia-cdi-hook-path"));
    words.insert(words.end(), {"--disable-hook", "all"});
    EXPECT_THAT(root.bare(words).err, Not(HasSubstr("hook program")));
  }
}

TEST(CdiPlan, NotesAHookProgramThatIsMissing) {
  const DriverRoot root;
  ASSERT_EQ(root.run({"apply"}).code, 0);
  root.spec("    driver: {version: \"535.261.03\", modules: open, source: {repository: " + testing::kPackage +
            ", trust: unsigned}}\n    cdi: {}\n");
  const Ran plan = root.run({"plan"}, kMachine);
  EXPECT_THAT(plan.out, HasSubstr("hook program /usr/bin/slipway-cdi-hook, which is missing")) << plan.err;
  root.put("usr/bin/slipway-cdi-hook", "");
  EXPECT_THAT(root.run({"plan"}, kMachine).out, Not(HasSubstr("hook program")));
}

// NVML's answers are not files: before the fix, a remembered answer said forever that the GPU was lost.
TEST(CdiPlan, FollowsAGpuThatIsLostAndFoundAgain) {
  const DriverRoot root;
  ASSERT_EQ(root.run({"apply"}).code, 0);
  root.spec("    driver: {version: \"535.261.03\", modules: open, source: {repository: " + testing::kPackage +
            ", trust: unsigned}}\n    cdi: {}\n");
  const auto sim = [&](const std::string& change) {
    return std::system((SLIPWAY_SIM_PROGRAM " " + root.path("run/slipway/sim").string() + " " + change).c_str());
  };
  EXPECT_THAT(root.run({"plan"}, kMachine).out, Not(HasSubstr("fell off the bus")));
  for (int i = 0; i < 2; ++i) {
    ASSERT_EQ(sim("gpu 3 lost"), 0);
    const Ran lost = root.run({"plan"}, kMachine);
    EXPECT_THAT(lost.out + lost.err, HasSubstr("fell off the bus"));
    ASSERT_EQ(sim("gpu 3 found"), 0);
    const Ran found = root.run({"plan"}, kMachine);
    EXPECT_THAT(found.out + found.err, Not(HasSubstr("fell off the bus")));
  }
}

/// A machine with the driver and GPUs that tests can change.
class LostGpus : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_EQ(root_.run({"apply"}).code, 0);
    root_.put("usr/bin/slipway-cdi-hook", "");
    root_.spec("    driver: {version: \"535.261.03\", modules: open, source: {repository: " + testing::kPackage +
               ", trust: unsigned}}\n    cdi: {}\n");
  }

  void sim(const std::string& change) const {
    ASSERT_EQ(std::system((SLIPWAY_SIM_PROGRAM " " + root_.path("run/slipway/sim").string() + " " + change).c_str()), 0)
        << change;
  }

  Ran generate(const std::vector<std::string>& more = {}, const std::string& profile = kMachine) const {
    std::vector<std::string> words{"cdi",           "generate",
                                   "--sim",         profile,
                                   "--root",        root_.path("").string(),
                                   "--driver-root", "/usr/lib/slipway/store/driver/current/userspace",
                                   "--dev-root",    "/"};
    words.insert(words.end(), more.begin(), more.end());
    return root_.bare(words);
  }

  static std::string entry(const std::string& name) { return "- name: \"" + name + "\"\n"; }
  static std::string node(int gpu) { return "path: /dev/nvidia" + std::to_string(gpu) + "\n"; }

  DriverRoot root_;
};

// Before the fix, one lost GPU prevented the whole spec, even a spec for another GPU.
TEST_F(LostGpus, AreLeftOutOfTheSpecAndNamed) {
  ASSERT_EQ(generate().code, 0);
  sim("gpu 3 lost");
  const Ran all = generate();
  EXPECT_EQ(all.code, 0) << all.err;
  EXPECT_THAT(all.out, AllOf(HasSubstr(entry("2")), HasSubstr(entry("4")), HasSubstr(entry("7"))));
  EXPECT_THAT(all.out, AllOf(Not(HasSubstr(entry("3"))), HasSubstr("- name: all"), Not(HasSubstr(node(3)))));
  EXPECT_THAT(all.err,
              AllOf(HasSubstr("GPU 3 (0000:5d:00.0) is lost"), HasSubstr("fell off the bus"), HasSubstr("reset")));
  const Ran other = generate({"--device-id", "0"});
  EXPECT_EQ(other.code, 0) << other.err;
  EXPECT_THAT(other.out, AllOf(HasSubstr(node(0)), Not(HasSubstr(node(1)))));
  const Ran itself = generate({"--device-id", "3"});
  EXPECT_EQ(itself.code, 1);
  EXPECT_EQ(itself.out, "");
  EXPECT_THAT(itself.err, AllOf(HasSubstr("error: GPU 3 (0000:5d:00.0) is lost"), HasSubstr("do:")));
  sim("gpu 3 found");
  const Ran back = generate();
  EXPECT_THAT(back.out, AllOf(HasSubstr(entry("3")), HasSubstr(node(3))));
  EXPECT_THAT(back.err, Not(HasSubstr("lost")));
}

TEST_F(LostGpus, AreAnErrorWhenAllGpusAreLost) {
  ASSERT_EQ(generate().code, 0);
  sim("gpu all lost");
  const Ran none = generate();
  EXPECT_EQ(none.code, 1);
  EXPECT_THAT(none.err,
              AllOf(HasSubstr("none of the 8 GPUs answers, beginning with GPU 0 (0000:18:00.0)"), HasSubstr("do:")));
}

// NVML no longer counts it, as after a reboot with a GPU that does not start.
TEST_F(LostGpus, ThatNvmlDoesNotShowAreNamedByTheirAddress) {
  ASSERT_EQ(generate().code, 0);
  sim("gpu 3 remove");
  const Ran seven = generate();
  EXPECT_EQ(seven.code, 0) << seven.err;
  EXPECT_THAT(seven.out, AllOf(HasSubstr(entry("6")), Not(HasSubstr(entry("7")))));
  EXPECT_THAT(seven.err, HasSubstr("the GPU 0000:5d:00.0 is lost"));
  // nvidia-smi cannot reset a GPU that the driver does not show.
  EXPECT_THAT(seven.err, AllOf(HasSubstr("`dmesg`"), HasSubstr("drain the node and reboot"), Not(HasSubstr("reset"))));
}

TEST_F(LostGpus, KeepTheOthersInTheSpecOfAnApplyAndOfTheNextBoot) {
  ASSERT_EQ(root_.run({"apply"}, kMachine).code, 0);
  const std::string spec = "run/cdi/nvidia.com-gpu.yaml";
  ASSERT_THAT(root_.text(spec), HasSubstr(node(3)));
  sim("gpu 3 lost");
  const Ran plan = root_.run({"plan"}, kMachine);
  EXPECT_EQ(plan.code, 2) << plan.err;
  EXPECT_THAT(plan.out,
              HasSubstr("note: GPU 3 (0000:5d:00.0) is lost, so CDI specs that are written now do not include it"));
  // An apply does not fix the consequences of the lost GPU.
  EXPECT_THAT(root_.run({"doctor"}, kMachine).out,
              AllOf(HasSubstr("\n      leads to cdi.current: "), Not(HasSubstr("do: run `slipway apply"))));
  for (const std::vector<std::string>& words : {std::vector<std::string>{"apply"}, {"apply", "--boot"}}) {
    std::filesystem::remove(root_.path(spec));
    const Ran apply = root_.run(words, kMachine);
    EXPECT_EQ(apply.code, 0) << apply.out << apply.err;
    EXPECT_THAT(root_.text(spec), AllOf(HasSubstr(node(2)), HasSubstr(node(7)), Not(HasSubstr(node(3)))));
  }
  const Ran verify = root_.run({"verify"}, kMachine);
  EXPECT_THAT(verify.out, AllOf(HasSubstr("cdi.lost"), HasSubstr("GPU 3 (0000:5d:00.0)"), HasSubstr("cdi.current")));
  const Ran doctor = root_.run({"doctor"}, kMachine);
  EXPECT_EQ(doctor.code, 1);
  EXPECT_THAT(doctor.out, AllOf(HasSubstr("cdi.lost"), HasSubstr("fell off the bus"), HasSubstr("reset the GPU")));
  EXPECT_THAT(doctor.out, Not(HasSubstr("do: run `slipway apply"))) << "which does not help against a lost GPU";
  sim("gpu 3 found");
  EXPECT_EQ(root_.run({"apply"}, kMachine).code, 0);
  EXPECT_THAT(root_.text(spec), HasSubstr(node(3)));
  EXPECT_THAT(root_.run({"doctor"}, kMachine).out, Not(HasSubstr("cdi.lost")));
}

// Before the fix, the pods failed without an explanation.
TEST_F(LostGpus, ThatTheDevicePluginNeedsAreAnErrorOfThePlan) {
  const auto spec = [&](const std::string& cdi, const std::string& flags) {
    root_.spec("    driver: {version: \"535.261.03\", modules: open, source: {repository: " + testing::kPackage +
               ", trust: unsigned}}\n    cdi: " + cdi + "\n    deviceplugin: {config: {version: v1, flags: " + flags +
               "}}\n");
  };
  spec("{}", "{gdsEnabled: true, plugin: {deviceListStrategy: cdi-cri}}");
  const Ran gds = root_.run({"plan"}, kMachine);
  EXPECT_EQ(gds.code, 1);
  EXPECT_THAT(gds.out + gds.err,
              AllOf(HasSubstr("CDI device of nvidia.com/gds"), HasSubstr("add gds to spec.components.cdi.modes")));
  spec("{names: [index]}", "{plugin: {deviceListStrategy: cdi-cri}}");
  const Ran names = root_.run({"plan"}, kMachine);
  EXPECT_EQ(names.code, 1);
  EXPECT_THAT(names.err + names.out, HasSubstr("add uuid to spec.components.cdi.names"));
  spec("{}", "{plugin: {deviceListStrategy: cdi-cri}}");
  ASSERT_EQ(root_.run({"apply"}, kMachine).code, 0) << root_.error_text();
  EXPECT_THAT(root_.run({"verify"}, kMachine).out,
              HasSubstr("deviceplugin.cdi: the CDI specs have what containers ask for"));
  std::filesystem::remove(root_.path("run/cdi/nvidia.com-gpu.yaml"));
  EXPECT_THAT(root_.run({"verify"}, kMachine).out, HasSubstr("no such pod can start"));
  EXPECT_THAT(root_.run({"doctor"}, kMachine).out, HasSubstr("leads to deviceplugin.cdi: ")) << "of the missing specs";
  ASSERT_EQ(root_.run({"apply"}, kMachine).code, 0);
  spec("{modes: [nvml, gds]}", "{gdsEnabled: true, plugin: {deviceListStrategy: cdi-cri}}");
  const Ran absent = root_.run({"plan"}, kMachine);
  EXPECT_EQ(absent.code, 1);
  EXPECT_THAT(absent.err + absent.out,
              AllOf(HasSubstr("but this machine has no such device"), HasSubstr("component gds")));
}

// Before the fix, the setting was ignored without an error.
TEST(SimulatedMachine, WithAnInvalidSettingIsAnError) {
  const DriverRoot root;
  const Ran plan = root.run({"plan"}, "h100x8,drvier=1");
  EXPECT_EQ(plan.code, 1) << plan.out;
  EXPECT_THAT(plan.err, AllOf(HasSubstr("drvier"), HasSubstr("driver=VERSION")));
}

}  // namespace
}  // namespace slipway
