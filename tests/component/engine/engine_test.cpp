// SPDX-License-Identifier: Apache-2.0
#include "scratch_host.hpp"

namespace slipway {
namespace {

using slipway::testing::Ran;
using slipway::testing::ScratchHost;
using ::testing::AnyOf;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr const char* kOneFile = "    probe: {files: {/etc/probe.conf: \"one\\n\"}}\n";
constexpr const char* kTwoFiles = "    probe: {files: {/etc/probe.conf: \"two\\n\", /etc/more.conf: \"more\\n\"}}\n";

// Before the fix, a machine that was provisioned while it ran had no device nodes after its next boot.
TEST(Plan, OfALiveMachineHasTheBootUnitForVolatileState) {
  ScratchHost host;
  host.live = true;
  host.spec("    probe: {files: {/etc/probe.conf: one}}\n");
  EXPECT_THAT(host.slipway({"plan"}).out, Not(HasSubstr("slipway-boot")));
  host.spec("    probe: {files: {/etc/probe.conf: one}, node: true}\n");
  EXPECT_THAT(host.slipway({"plan"}).out, HasSubstr("slipway-boot.service"));
}

TEST(Plan, ExitsWithTwoWhenSomethingWouldChangeAndChangesNothing) {
  const ScratchHost host;
  host.spec(kOneFile);
  const auto before = host.tree();
  const Ran plan = host.slipway({"plan"});
  EXPECT_EQ(plan.code, 2) << plan.err;
  EXPECT_THAT(plan.out, HasSubstr("/etc/probe.conf"));
  EXPECT_EQ(host.tree(), before);
}

TEST(Apply, MakesTheFilesAndThenHasNothingToDo) {
  const ScratchHost host;
  host.spec(kOneFile);
  const Ran first = host.slipway({"apply"});
  ASSERT_EQ(first.code, 0) << first.out << first.err;
  EXPECT_EQ(host.text("etc/probe.conf"), "one\n");
  const auto after = host.tree();
  const Ran second = host.slipway({"apply"});
  EXPECT_EQ(second.code, 0) << second.err;
  EXPECT_THAT(second.out, HasSubstr("Nothing to do"));
  EXPECT_EQ(host.tree(), after);
  EXPECT_EQ(host.slipway({"plan"}).code, 0);
}

TEST(Apply, RemovesThingsThatAreNoLongerPlanned) {
  const ScratchHost host;
  host.spec(kTwoFiles);
  ASSERT_EQ(host.slipway({"apply"}).code, 0);
  host.spec(kOneFile);
  const Ran apply = host.slipway({"apply"});
  ASSERT_EQ(apply.code, 0) << apply.err;
  EXPECT_FALSE(std::filesystem::exists(host.path("etc/more.conf")));
  EXPECT_EQ(host.text("etc/probe.conf"), "one\n");
}

TEST(Apply, RestoresEverythingWhenALaterActionFails) {
  ScratchHost host;
  host.live = true;
  host.put("etc/probe.conf", "the user's\n");
  const auto before = host.tree();
  host.spec("    probe: {files: {/etc/probe.conf: \"ours\\n\", /new/file: x}, custom: fails}\n");
  const Ran apply = host.slipway({"apply"});
  EXPECT_EQ(apply.code, 1);
  EXPECT_THAT(apply.err, HasSubstr("the custom action was told to fail"));
  EXPECT_EQ(host.tree(), before);
}

// The component has no findings of its own, so before the fix its absence was not reported.
TEST(Verify, FailsForAComponentWithoutFindingsThatWasNotApplied) {
  ScratchHost host;
  host.live = true;
  host.spec("    bystander: {}\n");
  const Ran verify = host.slipway({"verify", "-f", host.folder().at("host.yaml").string()});
  EXPECT_EQ(verify.code, 1);
  EXPECT_THAT(verify.out, HasSubstr("bystander.owned: bystander is not provisioned here"));
  EXPECT_EQ(host.slipway({"apply"}).code, 0);
  EXPECT_THAT(host.slipway({"verify"}).out, HasSubstr("Verified."));
}

// Before the fix, a failed compile made ldconfig write ld.so.cache again, and an unchanged initrd took half a minute.
TEST(Apply, HasNoPendingTriggersForRestoredFiles) {
  ScratchHost host;
  host.live = true;
  const std::string files = "files: {/etc/probe.conf: \"ours\\n\"}, trigger: \"initramfs:6.1.0-test\"";
  host.spec("    probe: {" + files + ", custom: fails}\n");
  const Ran failed = host.slipway({"apply"});
  EXPECT_EQ(failed.code, 1);
  EXPECT_THAT(failed.out, Not(HasSubstr("initramfs:6.1.0-test")));
  host.spec("    probe: {" + files + "}\n");
  EXPECT_THAT(host.slipway({"apply"}).out, HasSubstr("initramfs:6.1.0-test was skipped"));
}

unsigned mode_of(const ScratchHost& host, const std::string& file) {
  struct stat info {};
  EXPECT_EQ(::stat(host.path(file).c_str(), &info), 0) << file;
  return info.st_mode & 0777U;
}

// Before the fix, all users could read what a component had found in files that only root may read.
TEST(State, IsPrivateEvenIfAnEarlierSlipwayLeftItReadable) {
  const ScratchHost host;
  host.spec(kOneFile);
  ASSERT_EQ(host.slipway({"apply"}).code, 0);
  EXPECT_EQ(mode_of(host, "var/lib/slipway"), 0700U);
  EXPECT_EQ(mode_of(host, "var/lib/slipway/components/probe.json"), 0600U);
  EXPECT_EQ(mode_of(host, "var/lib/slipway/generations/1.json"), 0600U);
  ASSERT_EQ(::chmod(host.path("var/lib/slipway").c_str(), 0755), 0);
  ASSERT_EQ(host.slipway({"apply"}).code, 0) << "no action is needed";
  EXPECT_EQ(mode_of(host, "var/lib/slipway"), 0700U);
  EXPECT_EQ(mode_of(host, "var/lib"), 0755U) << "the folders above are everybody's";
}

// Before the fix, `sudo -E slipway apply` ran plugins that an ordinary user's environment named.
TEST(Environment, ChoosesNoPluginsForRootOnTheMachineItselfAndThatIsReported) {
  if (::geteuid() != 0) GTEST_SKIP() << "needs root";
  const ScratchHost host;
  const std::string ignored = "SLIPWAY_PLUGIN_PATH in the environment is ignored";
  EXPECT_THAT(host.bare({"status", "--root", "/"}).err, HasSubstr(ignored));
  EXPECT_THAT(host.bare({"status", "--root", "/"}).err, HasSubstr("SLIPWAY_LOG_DIR in the environment is ignored"));
  EXPECT_THAT(host.bare({"status", "--root", host.folder().at("root").string()}).err, Not(HasSubstr(ignored)));
  EXPECT_THAT(host.bare({"status", "--root", "/", "--image"}).err, Not(HasSubstr(ignored)));
}

TEST(Environment, SaysThatItsPluginPathTakesThePlaceOfTheInstalledFolder) {
  const ScratchHost host;
  host.spec("    driver: {}\n");
  const Ran ran = host.slipway({"plan"});
  EXPECT_EQ(ran.code, 1) << ran.out;
  EXPECT_THAT(ran.out + ran.err,
              AllOf(HasSubstr("unknown component 'driver'"), HasSubstr("SLIPWAY_PLUGIN_PATH takes the place of "),
                    HasSubstr("to have those as well")));
}

// Reporting is not applying: for plan, a plugin that only the environment names is a component; for verify it is
// unknown.
TEST(Environment, ChoosesNoPluginsForRootExceptForReadOnlyCommands) {
  if (::geteuid() != 0) GTEST_SKIP() << "needs root";
  const ScratchHost host;
  host.spec("    bystander: {}\n");
  const auto on = [&](const std::string& command, const std::string& root) {
    const Ran ran = host.bare(
        {command, "-f", host.folder().at("host.yaml").string(), "--root", root, root == "/" ? "--live" : "--image"});
    return ran.err + ran.out;
  };
  EXPECT_THAT(on("verify", "/"), HasSubstr("unknown component 'bystander'"));
  EXPECT_THAT(on("plan", "/"), HasSubstr("bystander: 1 change"));
  EXPECT_THAT(on("verify", host.folder().at("root").string()),
              HasSubstr("bystander.owned: bystander is not provisioned here"));
}

// Before the fix, ldconfig was skipped with a note, and the booted machine did not find the libraries.
TEST(Plan, OfARootForAnotherProcessorIsRefusedWhereTheRootsOwnToolsWouldHaveToRun) {
  if (std::filesystem::exists("/proc/sys/fs/binfmt_misc/qemu-s390x")) GTEST_SKIP() << "its programs run here";
  const ScratchHost host;
  std::string program("\177ELF\2\2\1", 7);  // for IBM Z
  program.resize(64);
  program[19] = 22;
  host.put("bin/sh", program);
  host.put("etc/hostname", "node\n");
  const auto before = host.tree();
  host.spec("    probe: {files: {/etc/ld.so.conf.d/probe.conf: \"/opt\\n\"}, trigger: ldconfig}\n    bystander: {}\n");
  const Ran plan = host.slipway({"plan"});
  EXPECT_EQ(plan.code, 1);
  EXPECT_THAT(plan.err + plan.out, HasSubstr("is for s390x, and its own ldconfig would have to run"));
  EXPECT_EQ(host.tree(), before);
  host.spec("    probe: {files: {/etc/probe.conf: \"one\\n\"}}\n");
  EXPECT_EQ(host.slipway({"apply"}).code, 0) << "what needs none of its tools can be done";
}

TEST(Apply, PlansAComponentLateWhenItNeedsAnEarlierOne) {
  const ScratchHost host;
  const std::string follower = "    follower: {needs: /etc/probe.conf}\n";
  host.spec(kOneFile + follower);
  const Ran plan = host.slipway({"plan"});
  EXPECT_EQ(plan.code, 2) << plan.err;
  EXPECT_THAT(plan.out, HasSubstr("planned once probe is done"));
  const Ran apply = host.slipway({"apply"});
  ASSERT_EQ(apply.code, 0) << apply.out << apply.err;
  EXPECT_EQ(host.text("etc/follower"), "helloone\n");
  EXPECT_THAT(host.slipway({"apply"}).out, HasSubstr("Nothing to do"));

  host.spec(kTwoFiles + follower);  // its requirement exists now, and changes
  ASSERT_EQ(host.slipway({"apply"}).code, 0);
  EXPECT_EQ(host.text("etc/follower"), "hellotwo\n");
}

TEST(Apply, FailsAComponentThatNeedsAMissingInput) {
  const ScratchHost host;
  host.spec(std::string(kOneFile) + "    follower: {needs: /etc/nobody}\n");
  const Ran apply = host.slipway({"apply"});
  EXPECT_EQ(apply.code, 1);
  EXPECT_THAT(apply.err, HasSubstr("/etc/nobody"));
  EXPECT_EQ(host.text("etc/probe.conf"), "one\n");
}

TEST(Apply, LeavesARootAloneInWhichNothingCouldBePlanned) {
  const ScratchHost host;
  host.put("etc/probe.conf/in-the-way", "a folder\n");
  const auto before = host.tree();
  host.spec(kOneFile);
  const Ran apply = host.slipway({"apply"});
  EXPECT_EQ(apply.code, 1);
  EXPECT_THAT(apply.err, HasSubstr("/etc/probe.conf"));
  EXPECT_EQ(apply.out,
            "probe: failed\nslipway-boot: blocked (there is no component that a boot could finish)\n"
            "Nothing was changed.\n");
  EXPECT_EQ(host.tree(), before);
}

TEST(Apply, ContinuesWithTheOthersAndBlocksThoseThatRequireTheFailedOne) {
  ScratchHost host;
  host.live = true;
  host.spec("    probe: {custom: crashes}\n    follower: {}\n    bystander: {}\n");
  const Ran apply = host.slipway({"apply", "-o", "json"});
  EXPECT_EQ(apply.code, 1);
  const Json result = Json::parse(apply.out);
  std::map<std::string, std::string> states;
  for (const Json& component : result["components"]) states[component["name"]] = component["state"];
  EXPECT_EQ(states["probe"], "failed");
  EXPECT_EQ(states["follower"], "blocked");
  EXPECT_EQ(states["bystander"], "changed");
  EXPECT_THAT(apply.out, HasSubstr("SIGABRT"));
}

TEST(Apply, PassesOutputsToLaterComponents) {
  const ScratchHost host;
  host.spec("    probe: {greeting: good morning}\n    follower: {}\n");
  ASSERT_EQ(host.slipway({"apply"}).code, 0);
  EXPECT_EQ(host.text("etc/follower"), "good morning");
}

/// Runs `apply --only COMPONENT` with the host's spec.
Ran apply_only(const ScratchHost& host, const std::string& component) {
  return host.slipway({"apply", "--only", component, "-f", host.folder().at("host.yaml").string()});
}

// Before the fix, the component was planned as if the outputs of the others were missing.
TEST(Only, UsesTheOutputsOfTheLastApply) {
  const ScratchHost host;
  host.spec("    probe: {files: {/etc/probe.conf: x}, greeting: good morning}\n    follower: {}\n");
  ASSERT_EQ(host.slipway({"apply"}).code, 0);
  std::filesystem::remove(host.path("etc/follower"));
  const Ran apply = apply_only(host, "follower");
  ASSERT_EQ(apply.code, 0) << apply.err;
  EXPECT_EQ(host.text("etc/follower"), "good morning");
}

// Components without files, or without changes, also record their outputs.
TEST(Only, UsesOutputsOfUnchangedComponents) {
  const ScratchHost host;
  for (const char* greeting : {"first", "second"}) {
    host.spec("    probe: {greeting: " + std::string(greeting) + "}\n    follower: {}\n");
    ASSERT_EQ(apply_only(host, "probe").code, 0);
    ASSERT_EQ(apply_only(host, "follower").code, 0);
    EXPECT_EQ(host.text("etc/follower"), greeting);
  }
  ASSERT_EQ(host.slipway({"remove", "--all"}).code, 0);
  EXPECT_TRUE(host.tree().empty()) << host.tree().begin()->first;
}

TEST(Apply, ReportsAPlanThatIsDifferentEachTimeAsItsPluginsDefect) {
  const ScratchHost host;
  host.spec("    probe: {moody: true}\n");
  const Ran apply = host.slipway({"apply"});
  EXPECT_EQ(apply.code, 1);
  EXPECT_THAT(apply.err, HasSubstr("bug in plugin probe"));
  EXPECT_THAT(apply.err, HasSubstr("/etc/mood"));
}

TEST(Drift, OfAUsersEditIsKeptAndReported) {
  const ScratchHost host;
  host.spec(kOneFile);
  ASSERT_EQ(host.slipway({"apply"}).code, 0);
  host.put("etc/probe.conf", "edited by hand\n");
  const Ran plan = host.slipway({"plan"});
  EXPECT_EQ(plan.code, 0) << plan.out;
  EXPECT_THAT(plan.out, HasSubstr("! "));
  ASSERT_EQ(host.slipway({"apply"}).code, 0);
  EXPECT_EQ(host.text("etc/probe.conf"), "edited by hand\n");
  ASSERT_EQ(host.slipway({"remove", "--all"}).code, 0);
  EXPECT_EQ(host.text("etc/probe.conf"), "edited by hand\n");
}

TEST(Remove, ReturnsTheRootToItsEarlierTree) {
  const ScratchHost host;
  host.put("etc/probe.conf", "the user's\n");
  host.put("etc/other", "x");
  const auto before = host.tree();
  host.spec(kTwoFiles);
  ASSERT_EQ(host.slipway({"apply"}).code, 0);
  host.spec(kOneFile);
  ASSERT_EQ(host.slipway({"apply"}).code, 0);
  const Ran removed = host.slipway({"remove", "--all"});
  ASSERT_EQ(removed.code, 0) << removed.out << removed.err;
  EXPECT_EQ(host.tree(), before);
}

// Another driver version was put into the folder that the first one's firmware had created; before the fix, remove left
// the folder.
TEST(Remove, RemovesFoldersOfAnEarlierGeneration) {
  const ScratchHost host;
  host.put("etc/other", "x");
  const auto before = host.tree();
  for (const char* file : {"/new/folder/first", "/new/folder/second"}) {
    host.spec("    probe: {files: {" + std::string(file) + ": x}}\n");
    ASSERT_EQ(host.slipway({"apply"}).code, 0);
  }
  EXPECT_EQ(host.text("new/folder/second"), "x");
  EXPECT_FALSE(std::filesystem::exists(host.path("new/folder/first")));
  ASSERT_EQ(host.slipway({"remove", "--all"}).code, 0);
  EXPECT_EQ(host.tree(), before);
}

// Before the fix, the folder of the first unit's link stayed: the second one's record did not name it.
TEST(Remove, RemovesFoldersThatSeveralUnitsShared) {
  const ScratchHost host;
  host.put("etc/other", "x");
  const auto before = host.tree();
  const auto unit = [](const std::string& name) {
    return "{" + name + ".service: \"[Service]\\nExecStart=/bin/true\\n[Install]\\nWantedBy=a.target\\n\"}";
  };
  const std::string second = "    bystander: {units: " + unit("second") + "}\n";
  host.spec("    probe: {units: " + unit("first") + "}\n");
  ASSERT_EQ(host.slipway({"apply"}).code, 0);
  host.spec("    probe: {units: " + unit("first") + "}\n" + second);
  ASSERT_EQ(host.slipway({"apply"}).code, 0);
  EXPECT_TRUE(std::filesystem::is_symlink(host.path("etc/systemd/system/a.target.wants/second.service")));
  host.spec(second);
  ASSERT_EQ(host.slipway({"apply"}).code, 0);
  ASSERT_EQ(host.slipway({"remove", "--all"}).code, 0);
  EXPECT_EQ(host.tree(), before);
}

TEST(Rollback, AppliesTheEarlierGenerationAgain) {
  const ScratchHost host;
  host.spec(kOneFile);
  ASSERT_EQ(host.slipway({"apply"}).code, 0);
  const auto first = host.text("etc/probe.conf");
  host.spec(kTwoFiles);
  ASSERT_EQ(host.slipway({"apply"}).code, 0);
  const Ran rolled = host.slipway({"rollback"});
  ASSERT_EQ(rolled.code, 0) << rolled.err;
  EXPECT_EQ(host.text("etc/probe.conf"), first);
  EXPECT_FALSE(std::filesystem::exists(host.path("etc/more.conf")));
  EXPECT_THAT(host.slipway({"status"}).out, HasSubstr("Generation 1 is active"));
}

TEST(SavedPlan, IsAppliedWhenNothingChangedAndRefusedOtherwise) {
  const ScratchHost host;
  host.spec(kOneFile);
  host.folder().file("plan.json", host.slipway({"plan", "-o", "json"}).out);
  host.spec(kTwoFiles);
  const Ran refused = host.slipway({"apply", host.folder().at("plan.json").string()});
  EXPECT_EQ(refused.code, 1);
  EXPECT_THAT(refused.err, HasSubstr("out of date"));
  EXPECT_THAT(refused.err, HasSubstr("spec:  components.probe.files./etc/more.conf was not set, is \"more\\n\""));
  EXPECT_THAT(refused.err, HasSubstr("probe: file /etc/more.conf is new"));
  EXPECT_FALSE(std::filesystem::exists(host.path("etc/probe.conf")));
  host.spec(kOneFile);
  EXPECT_EQ(host.slipway({"apply", host.folder().at("plan.json").string()}).code, 0);
  EXPECT_EQ(host.text("etc/probe.conf"), "one\n");
}

TEST(SavedPlan, OfAnotherUserIsNotApplied) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root gives files away";
  const ScratchHost host;
  host.spec(kOneFile);
  host.folder().file("plan.json", host.slipway({"plan", "-o", "json"}).out);
  const std::string plan = host.folder().at("plan.json").string();
  ASSERT_EQ(::chown(plan.c_str(), 65534, 0), 0);
  const Ran refused = host.slipway({"apply", plan});
  EXPECT_EQ(refused.code, 1);
  EXPECT_THAT(refused.err, HasSubstr(plan + " belongs to user 65534"));
  EXPECT_FALSE(std::filesystem::exists(host.path("etc/probe.conf")));
}

// Before the fix, a plan without an identity was applied without a check; one of another type was "a bug in slipway".
TEST(SavedPlan, IsRefusedWithoutItsRecordedState) {
  const ScratchHost host;
  host.spec(kOneFile);
  const Json plan = Json::parse(host.slipway({"plan", "-o", "json"}).out);
  for (const auto& [member, value] : {std::pair<std::string, Json>{"identity", nullptr},
                                      {"identity", 5},
                                      {"options", 5},
                                      {"options", {{"kernels", 5}}},
                                      {"options", {{"root", nullptr}}},
                                      {"kind", 5}}) {
    Json other = plan;
    if (value.is_object())
      other[member].update(value);
    else
      other[member] = value;
    host.folder().file("plan.json", other.dump());
    const Ran ran = host.slipway({"apply", host.folder().at("plan.json").string()});
    EXPECT_EQ(ran.code, 1) << member << value;
    EXPECT_THAT(ran.err, AnyOf(HasSubstr("this is not a plan"), HasSubstr("options that this slipway does not know")))
        << member << value;
  }
  EXPECT_FALSE(std::filesystem::exists(host.path("etc/probe.conf")));
}

TEST(Reproducibility, TwoAppliesToTwoRootsGiveEqualTreesUnderSourceDateEpoch) {
  ::setenv("SOURCE_DATE_EPOCH", "1700000000", 1);
  const ScratchHost a;
  const ScratchHost b;
  for (const ScratchHost* host : {&a, &b}) {
    host->spec(kTwoFiles);
    ASSERT_EQ(host->slipway({"apply"}).code, 0);
  }
  ::unsetenv("SOURCE_DATE_EPOCH");
  auto left = a.tree();
  auto right = b.tree();
  // The generation names the spec's file, and these two are in different folders.
  left.erase("var/lib/slipway/generations/1.json");
  right.erase("var/lib/slipway/generations/1.json");
  EXPECT_EQ(left, right);
  for (const auto& [path, picture] : left) EXPECT_EQ(a.mtime_ns(path), b.mtime_ns(path)) << path;
}

}  // namespace
}  // namespace slipway
