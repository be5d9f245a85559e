// SPDX-License-Identifier: Apache-2.0
// The component mig: the changes of an apply to the GPUs, and the GPUs that it does not touch.
#include "node.hpp"

namespace slipway {
namespace {

using slipway::testing::MigNode;
using slipway::testing::Ran;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

TEST(MigComponent, GivesTheGpusANamedConfigAndThenHasNothingToDo) {
  for (const char* profile : {"a100-80x2", "h100x2"}) {
    const MigNode node(profile);
    const Ran first = node.apply("all-1g.10gb");
    EXPECT_EQ(first.code, 0) << first.out << first.err;
    EXPECT_THAT(first.out, HasSubstr("pass  mig.layout: 2 GPUs have the layout of the config all-1g.10gb"));
    EXPECT_EQ(node.instances(0).size(), 7U);
    EXPECT_EQ(node.instances(1).size(), 7U);
    const Ran second = node.apply("all-1g.10gb");
    EXPECT_EQ(second.code, 0);
    EXPECT_THAT(second.out, HasSubstr("Nothing to do"));
    EXPECT_EQ(node.slipway({"plan"}).code, 0);
    EXPECT_EQ(node.slipway({"verify"}).code, 0);
  }
}

TEST(MigComponent, ChangesBetweenNamedConfigs) {
  const MigNode node("a100-80x1");
  ASSERT_EQ(node.apply("all-balanced").code, 0);
  EXPECT_EQ(node.instances().size(), 4U);
  ASSERT_EQ(node.apply("all-enabled").code, 0);
  EXPECT_THAT(node.instances(), IsEmpty());
  ASSERT_EQ(node.apply("all-2g.20gb").code, 0);
  EXPECT_THAT(node.instances(), ElementsAre("2g.20gb at 0:2", "2g.20gb at 2:2", "2g.20gb at 4:2"));
  ASSERT_EQ(node.apply("all-disabled").code, 0);
  EXPECT_THAT(node.instances(), ElementsAre("off"));
  EXPECT_THAT(node.slipway({"apply"}).out, HasSubstr("Nothing to do"));
}

TEST(MigComponent, ShowsChangedAndDestroyedInstancesInThePlan) {
  const MigNode node("a100-80x1,mig=3g.40gb/2g.20gb/1g.10gb");
  const Ran plan = node.plan("all-3g.40gb");
  EXPECT_EQ(plan.code, 2) << plan.out << plan.err;
  EXPECT_THAT(plan.out, HasSubstr("+ GPU 0 (0000:07:00.0): 1 x 3g.40gb + 1 x 2g.20gb + 1 x 1g.10gb -> 2 x 3g.40gb"));
  EXPECT_THAT(plan.out, HasSubstr("keeps 3g.40gb at 4; destroys "));
  EXPECT_EQ(node.instances().size(), 3U) << "a plan changes nothing";
}

TEST(MigComponent, DrawsOldAndNewLayoutsInThePlan) {
  const MigNode node("a100-80x3,mig=1g.10gb");
  const Ran plan = node.plan("all-balanced");
  EXPECT_THAT(plan.out, HasSubstr("  + GPU 0-2: 7 x 1g.10gb -> 1 x 3g.40gb + 1 x 2g.20gb + 2 x 1g.10gb"));
  EXPECT_THAT(plan.out, HasSubstr("\n    now      |1g.10gb|1g.10gb|1g.10gb|"));
  EXPECT_THAT(plan.out, HasSubstr("|            3g.40gb            |\n"));
  EXPECT_THAT(plan.out, HasSubstr("+++++++++++++++++++++++++++++++\n"));
  EXPECT_THAT(plan.out, Not(HasSubstr("\\n"))) << "the picture is not one line";
  const Json json = Json::parse(node.slipway({"plan", "-o", "json"}).out);
  const Json& item = json["components"][0]["items"][0];
  EXPECT_EQ(item["summary"], "GPU 0-2: 7 x 1g.10gb -> 1 x 3g.40gb + 1 x 2g.20gb + 2 x 1g.10gb");
  EXPECT_THAT(item["diff"].get<std::string>(), HasSubstr("now      |1g.10gb|"));
}

TEST(MigComponent, ColoursTheMarksOfThePlanOnATerminal) {
  const MigNode node("h100x1,mig=1g.10gb");
  ASSERT_EQ(node.plan("all-balanced").code, 2);
  const auto& folder = node.host().folder();
  const std::string plan = "python3 -c 'import pty, sys; pty.spawn(sys.argv[1:])' " SLIPWAY_PROGRAM
                           " plan --sim h100x1,mig=1g.10gb --root " +
                           folder.at("root").string() + " --cache " + folder.at("cache").string() + " -f " +
                           folder.at("host.yaml").string() + " > " + folder.at("seen").string();
  const std::string variables =
      "SLIPWAY_PLUGIN_PATH=" SLIPWAY_TEST_PLUGINS " TERM=xterm NO_COLOR= SLIPWAY_LOG_DIR=" + folder.at("log").string() +
      " ";
  ASSERT_EQ(std::system((variables + plan).c_str()), 0);
  std::ifstream in(folder.at("seen"));
  const std::string seen{std::istreambuf_iterator<char>(in), {}};
  EXPECT_THAT(seen, HasSubstr("\033[2m=======\033[0m \033[2m=======\033[0m \033[31m-------\033[0m"));
  EXPECT_THAT(seen, HasSubstr("\033[32m+++++++++++++++\033[0m"));
}

TEST(MigComponent, DrawsEachOfSeveralChangesInThePlan) {
  const MigNode node("h100x4,mig=1g.10gb");
  ASSERT_EQ(node.plan("all-balanced").code, 2);
  ASSERT_EQ(node.sim("gpu 2 mig off").code, 0);
  const Ran plan = node.plan("all-balanced");
  EXPECT_THAT(plan.out, HasSubstr("  + 4 GPUs get the layouts of the config all-balanced\n"));
  EXPECT_THAT(plan.out, HasSubstr("\n    GPU 0, 1, 3: 7 x 1g.10gb -> "));
  EXPECT_THAT(plan.out, HasSubstr("\n    GPU 2 (0000:3a:00.0): MIG disabled -> "));
  EXPECT_THAT(plan.out, HasSubstr("whole GPU, MIG disabled"));
  EXPECT_EQ(node.slipway({"apply"}).code, 0);
  EXPECT_THAT(node.slipway({"plan", "-v"}).out, Not(HasSubstr("now  "))) << "nothing changes any more";
}

TEST(MigComponent, KeepsTheInstancesThatCanStay) {
  const MigNode node("a100-80x1");
  node.section(
      "config: it, configs: {version: v1, mig-configs: {it: [{devices: all, mig-enabled: true, "
      "mig-devices: {3g.40gb: 1, 1g.10gb: 1}}]}}");
  ASSERT_EQ(node.slipway({"apply"}).code, 0);
  const auto before = node.instances();
  // A program on an instance that stays does not matter; one on a removed instance would.
  const std::string id = before.back().starts_with("3g") && before.back().find("at 4") != std::string::npos ? "2" : "1";
  ASSERT_EQ(node.sim("process add 0 4711 10 compute trainer " + id + " 0").code, 0);
  const Ran ran = node.apply("all-3g.40gb");
  EXPECT_EQ(ran.code, 0) << ran.out << ran.err;
  EXPECT_THAT(node.instances(), ElementsAre("3g.40gb at 0:4", "3g.40gb at 4:4"));
}

TEST(MigComponent, TouchesOnlyTheGpusThatDiffer) {
  const MigNode node("h100x3");
  ASSERT_EQ(node.apply("all-balanced").code, 0);
  ASSERT_EQ(node.sim("gpu 1 mig off").code, 0);
  ASSERT_EQ(node.sim("forget-calls").code, 0);
  const Ran plan = node.slipway({"plan"});
  EXPECT_THAT(plan.out, HasSubstr("+ GPU 1 "));
  EXPECT_THAT(plan.out, Not(HasSubstr("GPU 0 ")));
  EXPECT_EQ(node.slipway({"apply"}).code, 0);
  EXPECT_EQ(node.instances(1).size(), 4U);
  EXPECT_THAT(node.sim("calls").out, Not(HasSubstr("nvmlGpuInstanceDestroy")));
}

TEST(MigComponent, LeavesGpusAloneThatNoEntrySelects) {
  const MigNode node("h100x2,mig=1g.10gb");
  node.section(
      "config: second, configs: {version: v1, mig-configs: {second: [{devices: [1, 9], mig-enabled: true, "
      "mig-devices: {7g.80gb: 1}}]}}");
  const Ran ran = node.slipway({"apply"});
  EXPECT_EQ(ran.code, 0) << ran.out << ran.err;
  EXPECT_EQ(node.instances(0).size(), 7U);
  EXPECT_THAT(node.instances(1), ElementsAre("7g.80gb at 0:8"));
  EXPECT_THAT(node.slipway({"plan"}).out, HasSubstr("there is no GPU 9, since this machine has 2"));
}

TEST(MigComponent, ReadsTheConfigFileOfTheHost) {
  const MigNode node("h100x1");
  node.host().put("etc/nvidia-mig-manager/config.yaml",
                  "version: v1\nmig-configs:\n  halves:\n  - devices: all\n    mig-enabled: true\n"
                  "    mig-devices: {\"3g.40gb\": 2}\n");
  node.section("config: halves, file: /etc/nvidia-mig-manager/config.yaml");
  EXPECT_EQ(node.slipway({"apply"}).code, 0);
  EXPECT_EQ(node.instances().size(), 2U);
  node.section("config: thirds, file: /etc/nvidia-mig-manager/config.yaml");
  const Ran unknown = node.slipway({"apply"});
  EXPECT_EQ(unknown.code, 1);
  EXPECT_THAT(unknown.err + unknown.out, HasSubstr("there is no config 'thirds'"));
  EXPECT_EQ(node.instances().size(), 2U);
}

TEST(MigComponent, RefusesAProfileThatAGpuLacksBeforeAnythingChanges) {
  const MigNode node("a100-40x2,mig=3g.20gb");
  const auto before = node.gpus();
  node.section(
      "config: it, configs: {version: v1, mig-configs: {it: [{devices: [0], mig-enabled: false}, "
      "{devices: [1], mig-enabled: true, mig-devices: {1g.12gb: 1}}]}}");
  const Ran ran = node.slipway({"apply"});
  EXPECT_EQ(ran.code, 1) << ran.out;
  EXPECT_THAT(ran.out + ran.err, HasSubstr("has no MIG profile '1g.12gb'; did you mean '1g.10gb'?"));
  EXPECT_THAT(ran.out + ran.err, HasSubstr("1g.5gb, 1g.5gb+me, 1g.10gb, 2g.10gb, 3g.20gb, 4g.20gb, 7g.40gb"));
  EXPECT_EQ(node.instances(0), node.instances(1));
  EXPECT_EQ(node.instances(0).size(), 2U) << before;
}

TEST(MigComponent, WaitsForTheUsersOfAnInstance) {
  const MigNode node("h100x1,mig=1g.10gb");
  ASSERT_EQ(node.plan("all-7g.80gb").code, 2);
  ASSERT_EQ(node.sim("process add 0 4711 10 compute trainer 9 0").code, 0);
  const auto before = node.gpus();
  const Ran ran = node.apply("all-7g.80gb, drain: wait");
  EXPECT_EQ(ran.code, 3) << ran.out << ran.err;
  EXPECT_THAT(ran.out, HasSubstr("mig: waiting (GPU 0 (0000:18:00.0) is in use, so its layout was left as it was "
                                 "(7 x 1g.10gb); it waits since "));
  EXPECT_THAT(ran.out, HasSubstr("for 10m at most; held by trainer (pid 4711) on 1g.10gb at 2)"));
  EXPECT_EQ(node.gpus(), before);
  ASSERT_EQ(node.sim("process remove 4711").code, 0);
  EXPECT_EQ(node.slipway({"apply"}).code, 0);
  EXPECT_THAT(node.instances(), ElementsAre("7g.80gb at 0:8"));
}

TEST(MigComponent, WaitsForTheUsersOfTheGpuWhenItsModeChanges) {
  const MigNode node("a100-80x1");
  ASSERT_EQ(node.plan("all-1g.10gb").code, 2);
  for (const char* process : {"process add 0 4711 10 compute trainer", "process add 0 4711 0 holder watcher"}) {
    ASSERT_EQ(node.sim(process).code, 0);
    const Ran ran = node.apply("all-1g.10gb, drain: wait");
    EXPECT_EQ(ran.code, 3) << ran.out << ran.err;
    EXPECT_THAT(ran.out, HasSubstr("is in use, so its layout was left as it was (MIG disabled)"));
    EXPECT_THAT(node.instances(), ElementsAre("off"));
    ASSERT_EQ(node.sim("process remove all").code, 0);
    EXPECT_EQ(node.plan("all-disabled").code, 0) << "no request for another mode was left behind";
  }
}

TEST(MigComponent, RequiresARebootWhereTheModeWaitsForAReset) {
  const MigNode node("a100-80x1");
  ASSERT_EQ(node.plan("all-1g.10gb").code, 2);
  ASSERT_EQ(node.sim("gpu 0 no-reset on").code, 0);
  const Ran ran = node.apply("all-1g.10gb");
  EXPECT_EQ(ran.code, 4) << ran.out << ran.err;
  EXPECT_THAT(ran.out, HasSubstr("takes MIG mode enabled at its next reset"));
  EXPECT_THAT(ran.out, HasSubstr("`nvidia-smi --gpu-reset -i 0000:07:00.0`"));
  ASSERT_EQ(node.sim("gpu 0 reset").code, 0);
  EXPECT_EQ(node.slipway({"apply"}).code, 0);
  EXPECT_EQ(node.instances().size(), 7U);
  // On the way back the instances stay in use until the reset removes them.
  EXPECT_EQ(node.apply("all-disabled").code, 4);
  EXPECT_EQ(node.instances().size(), 7U);
  ASSERT_EQ(node.sim("gpu 0 reset").code, 0);
  EXPECT_EQ(node.slipway({"apply"}).code, 0);
  EXPECT_THAT(node.instances(), ElementsAre("off"));
}

TEST(MigComponent, LeavesAGpuOfAnotherManagerAlone) {
  const MigNode node("h100x3");
  ASSERT_EQ(node.plan("all-1g.10gb").code, 2);
  const std::string file = node.host().path("etc/slipway/gpu-managers.json").string();
  std::filesystem::create_directories(std::filesystem::path(file).parent_path());
  std::ofstream(file) << R"({"kind": "GpuManagers", "default": "deviceplugin", "gpus": {"0000:2a:00.0": "dra"}})";
  const Ran plan = node.slipway({"plan"});
  EXPECT_THAT(plan.out, HasSubstr("GPU 1 (0000:2a:00.0) is managed by dra, so it is left alone"));
  const Ran ran = node.slipway({"apply"});
  EXPECT_EQ(ran.code, 0) << ran.out << ran.err;
  EXPECT_EQ(node.instances(0).size(), 7U);
  EXPECT_THAT(node.instances(1), ElementsAre("off"));
  // slipway ignores layouts set by the GPU's other manager.
  ASSERT_EQ(node.sim("gpu 1 mig on").code, 0);
  EXPECT_EQ(node.slipway({"plan"}).code, 0);
  EXPECT_THAT(node.slipway({"doctor", "-f", node.host().folder().at("host.yaml").string()}).out,
              Not(HasSubstr("GPU 1 ")));
  node.section("config: it, configs: {version: v1, mig-configs: {it: [{devices: [0, 1], mig-enabled: false}]}}");
  const Ran named = node.slipway({"apply"});
  EXPECT_EQ(named.code, 1) << named.out;
  EXPECT_THAT(named.out + named.err, HasSubstr("GPU 1 (0000:2a:00.0) is managed by dra, so no config may"));
  EXPECT_EQ(node.instances(0).size(), 7U);
  node.section("config: all-1g.10gb, managers: {\"0000:2a:00.0\": deviceplugin}");
  EXPECT_EQ(node.slipway({"apply"}).code, 0);
  EXPECT_EQ(node.instances(1).size(), 7U);
}

// Before the fix, an address with a typing error left its GPU to be partitioned, without a message.
TEST(MigComponent, RefusesManagersOfUnknownGpus) {
  const MigNode node("h100x2");
  ASSERT_EQ(node.plan("all-1g.10gb").code, 2);
  node.section("config: all-1g.10gb, managers: {\"0000:2b:00.0\": dra, \"GPU-nothing\": vfio, \"0000:2a:00.0\": dra}");
  const Ran ran = node.slipway({"apply"});
  EXPECT_EQ(ran.code, 1) << ran.out;
  EXPECT_THAT(ran.out + ran.err, HasSubstr("no GPU of this machine is 0000:2b:00.0 or GPU-nothing"));
  EXPECT_THAT(ran.out + ran.err, HasSubstr("spec.components.mig.managers"));
  EXPECT_THAT(node.instances(0), ElementsAre("off"));
}

TEST(MigComponent, ChangesTheOtherGpusWhileOneWaits) {
  const MigNode node("h100x3,mig=1g.10gb");
  ASSERT_EQ(node.plan("all-7g.80gb").code, 2);
  for (const char* process : {"0 4711 10 compute trainer 9 0", "1 4712 10 compute player 7 0"})
    ASSERT_EQ(node.sim(std::string("process add ") + process).code, 0);
  const Ran ran = node.apply("all-7g.80gb, drain: when-idle");
  EXPECT_EQ(ran.code, 3) << ran.out << ran.err;
  EXPECT_THAT(ran.out, HasSubstr("GPU 0 (0000:18:00.0) is in use"));
  EXPECT_THAT(ran.out, HasSubstr("GPU 1 (0000:2a:00.0) is in use"));
  EXPECT_THAT(ran.out, HasSubstr("held by trainer (pid 4711) on 1g.10gb at 2"));
  EXPECT_THAT(ran.out, HasSubstr("player (pid 4712) on 1g.10gb at 0"));
  EXPECT_EQ(node.instances(0).size(), 7U);
  EXPECT_EQ(node.instances(1).size(), 7U);
  EXPECT_THAT(node.instances(2), ElementsAre("7g.80gb at 0:8"));
}

// Changing one GPU after the other would require a reboot for each.
TEST(MigComponent, RequestsAllModesForOneReboot) {
  const MigNode node("a100-80x3");
  ASSERT_EQ(node.plan("all-3g.40gb").code, 2);
  ASSERT_EQ(node.sim("gpu all no-reset on").code, 0);
  EXPECT_EQ(node.apply("all-3g.40gb").code, 4);
  ASSERT_EQ(node.sim("gpu all reset").code, 0);
  EXPECT_EQ(node.slipway({"apply"}).code, 0);
  for (const unsigned gpu : {0U, 1U, 2U}) EXPECT_EQ(node.instances(gpu).size(), 2U);
}

TEST(MigComponent, EnablesMigFirstForOlderDrivers) {
  const MigNode node("a100-80x1");
  ASSERT_EQ(node.plan("all-enabled").code, 2);
  ASSERT_EQ(node.sim("gpu 0 profiles-when-disabled off").code, 0);
  const Ran named = node.plan("all-1g.10gb");
  EXPECT_EQ(named.code, 2) << named.out << named.err;
  EXPECT_THAT(named.out, HasSubstr("it has the configs that NVIDIA publishes for it"));
  const auto section = [&](const std::string& devices) {
    node.section(
        "config: it, configs: {version: v1, mig-configs: {it: [{devices: all, mig-enabled: true, mig-devices: " +
        devices + "}]}}");
  };
  section("{1g.10gb: 1, 1g.99gb: 1}");
  const Ran wrong = node.slipway({"apply"});
  EXPECT_EQ(wrong.code, 1) << wrong.out;
  EXPECT_THAT(wrong.out + wrong.err, HasSubstr("has no MIG profile '1g.99gb'"));
  EXPECT_THAT(node.instances(), ElementsAre("off")) << "and the mode is what it was";
  section("{3g.40gb: 2}");
  const Ran ran = node.slipway({"apply"});
  EXPECT_EQ(ran.code, 0) << ran.out << ran.err;
  EXPECT_THAT(node.instances(), ElementsAre("3g.40gb at 0:4", "3g.40gb at 4:4"));
  EXPECT_THAT(node.slipway({"apply"}).out, HasSubstr("Nothing to do"));
}

TEST(MigComponent, LeavesTheLayoutWhenItIsRemoved) {
  const MigNode node("h100x1");
  ASSERT_EQ(node.apply("all-balanced").code, 0);
  const auto before = node.instances();
  const Ran removed = node.slipway({"remove", "mig"});
  EXPECT_EQ(removed.code, 0) << removed.out << removed.err;
  EXPECT_EQ(node.instances(), before);
}

// Before the fix, a file of the user was overwritten, and removed with the component.
TEST(MigComponent, NeverOverwritesOtherFiles) {
  const MigNode node("a100-80x1");
  node.host().put("etc/mine", "of somebody\n");
  node.section("config: all-1g.10gb, state_file: /etc/mine");
  const Ran ran = node.slipway({"apply"});
  EXPECT_EQ(ran.code, 1);
  EXPECT_THAT(ran.out + ran.err, HasSubstr("/etc/mine contains something other than the state of the MIG layouts"));
  EXPECT_EQ(node.host().text("etc/mine"), "of somebody\n");
  node.section("config: all-1g.10gb, state_file: /run/labels, label_file: /run/labels");
  const Ran same = node.slipway({"plan"});
  EXPECT_EQ(same.code, 1);
  EXPECT_THAT(same.out + same.err, HasSubstr("name another file than `label_file`"));
}

TEST(MigComponent, SaysWhatToDoAboutAFileThatIsMissing) {
  const MigNode node("a100-80x1");
  for (const char* key : {"file", "clients_file"}) {
    node.section(std::string("config: x, ") + key + ": /etc/none");
    const Ran ran = node.slipway({"plan"});
    EXPECT_EQ(ran.code, 1);
    EXPECT_THAT(ran.out + ran.err, HasSubstr("name an existing file in the host's root, or create it")) << key;
  }
}

// Before the fix, another user's labels could choose the layout of all GPUs, another user's file the config, and
// another user's link the place where root wrote the state.
TEST(MigComponent, RefusesAFileThatAnotherUserCouldHaveWritten) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root gives files away";
  const MigNode node("a100-80x1");
  node.host().put("run/labels", "nvidia.com/mig.config=all-1g.10gb\n");
  node.host().put("run/clients.yaml", "version: v1\nsystemd-services: [nvsm.service]\n");
  node.host().put("run/configs.yaml", "version: v1\nmig-configs: {mine: [{devices: all, mig-enabled: false}]}\n");
  std::filesystem::create_directories(node.host().path("run/state"));
  const struct {
    const char* file;
    const char* keys;
  } cases[]{{"run/labels", "config: all-disabled, label_file: /run/labels"},
            {"run/clients.yaml", "config: all-disabled, clients_file: /run/clients.yaml"},
            {"run/configs.yaml", "config: mine, file: /run/configs.yaml"},
            {"run/state", "config: all-disabled, state_file: /run/state/mig"}};
  for (const auto& [file, keys] : cases) {
    node.section(keys);
    EXPECT_NE(node.slipway({"plan"}).code, 1) << keys;
    ASSERT_EQ(::chown(node.host().path(file).c_str(), 65534, 0), 0);
    const Ran refused = node.slipway({"plan"});
    EXPECT_EQ(refused.code, 1) << keys;
    EXPECT_THAT(refused.out + refused.err, HasSubstr("user 65534 owns /" + std::string(file))) << keys;
    ASSERT_EQ(::chown(node.host().path(file).c_str(), 0, 0), 0);
  }
}

// The labels of nvidia-mig-manager, in files. Before the fix, a root's own link made slipway write the state on the
// machine.
TEST(MigComponent, WritesItsStateInsideTheRoot) {
  const MigNode node("a100-80x1");
  std::filesystem::create_directories(node.host().path("etc"));
  std::filesystem::create_directory_symlink("/run/mig-state-of-another-root", node.host().path("etc/features.d"));
  node.section("config: all-1g.10gb, state_file: /etc/features.d/mig");
  (void)node.slipway({"apply"});
  EXPECT_FALSE(std::filesystem::exists("/run/mig-state-of-another-root"));
}

TEST(MigComponent, UsesTheConfigOfTheNodesLabelsAndReportsTheState) {
  const MigNode node("a100-80x2");
  const std::string keys = "config: \"\", label_file: /run/labels, state_file: /etc/features.d/mig, drain: wait";
  const auto state = [&] { return node.host().text("etc/features.d/mig"); };
  node.section(keys);
  EXPECT_EQ(node.slipway({"apply"}).code, 0);
  const Ran none = node.slipway({"plan"});
  EXPECT_EQ(none.code, 0) << none.out << none.err;
  EXPECT_THAT(none.out, HasSubstr("/run/labels has no label nvidia.com/mig.config, so the GPUs stay as they are"));
  node.host().put("run/labels", "# of the node\nkubernetes.io/os=linux\nnvidia.com/mig.config=all-1g.10gb\n");
  const Ran ran = node.slipway({"apply"});
  EXPECT_EQ(ran.code, 0) << ran.out << ran.err;
  for (const unsigned gpu : {0U, 1U}) EXPECT_EQ(node.instances(gpu).size(), 7U);
  EXPECT_EQ(state(), "nvidia.com/mig.config.state=success\n");
  EXPECT_THAT(node.slipway({"apply"}).out, HasSubstr("Nothing to do"));

  node.host().put("run/labels", "nvidia.com/mig.config=\"all-balanced\"\n");
  ASSERT_EQ(node.sim("process add 0 4711 10 compute trainer 9 0").code, 0);
  EXPECT_EQ(node.slipway({"apply"}).code, 3);
  EXPECT_EQ(state(), "nvidia.com/mig.config.state=pending\n");
  ASSERT_EQ(node.sim("process remove all").code, 0);
  ASSERT_EQ(node.sim("gpu 0 create-fails 1").code, 0);
  EXPECT_EQ(node.slipway({"apply"}).code, 1);
  EXPECT_EQ(state(), "nvidia.com/mig.config.state=failed\n");
  EXPECT_EQ(node.slipway({"apply"}).code, 0);
  EXPECT_EQ(state(), "nvidia.com/mig.config.state=success\n");

  node.host().put("run/labels", "nvidia.com/mig.config=../etc\n");
  const Ran wrong = node.slipway({"apply"});
  EXPECT_EQ(wrong.code, 1);
  EXPECT_THAT(wrong.out + wrong.err, HasSubstr("/run/labels:1"));
  EXPECT_EQ(node.instances(1).size(), 4U);
  EXPECT_EQ(node.slipway({"remove", "mig"}).code, 0);
  EXPECT_FALSE(std::filesystem::exists(node.host().path("etc/features.d/mig")));
}

// The layout from before slipway, not from before the last config.
TEST(MigComponent, RestoresTheFormerLayoutsWhenItIsRemoved) {
  const MigNode node("h100x2,mig=3g.40gb");
  node.section("config: all-balanced, on_remove: restore");
  ASSERT_EQ(node.slipway({"plan"}).code, 2);
  const auto before = node.instances(1);
  ASSERT_EQ(node.slipway({"apply"}).code, 0);
  node.section("config: all-1g.10gb, on_remove: restore");
  ASSERT_EQ(node.slipway({"apply"}).code, 0);
  const Ran removed = node.slipway({"remove", "mig"});
  EXPECT_EQ(removed.code, 0) << removed.out << removed.err;
  EXPECT_THAT(removed.err, HasSubstr("give the GPUs their former MIG layouts"));
  for (const unsigned gpu : {0U, 1U}) EXPECT_EQ(node.instances(gpu), before) << gpu;
}

TEST(MigComponent, DisablesMigWhenItIsRemovedIfAskedTo) {
  const MigNode node("h100x2,mig=3g.40gb");
  ASSERT_EQ(node.apply("all-balanced").code, 0);
  node.section("config: all-balanced, on_remove: disable");
  ASSERT_EQ(node.slipway({"apply"}).code, 0) << "the key alone has changed";
  ASSERT_EQ(node.sim("process add 1 4711 10 compute trainer 9 0").code, 0);
  const Ran busy = node.slipway({"remove", "mig"});
  EXPECT_EQ(busy.code, 1) << busy.out;
  EXPECT_THAT(busy.out + busy.err, HasSubstr("trainer (pid 4711)"));
  EXPECT_EQ(node.instances(1).size(), 4U);
  ASSERT_EQ(node.sim("process remove all").code, 0);
  const Ran removed = node.slipway({"remove", "mig"});
  EXPECT_EQ(removed.code, 0) << removed.out << removed.err;
  for (const unsigned gpu : {0U, 1U}) EXPECT_THAT(node.instances(gpu), ElementsAre("off")) << gpu;
}

TEST(MigComponent, IsNotForGpusWithoutMig) {
  const MigNode node("t4x4");
  const Ran ran = node.plan("all-balanced");
  EXPECT_THAT(ran.out, HasSubstr("mig: not-applicable: no GPU of this machine is capable of MIG")) << ran.err;
}

TEST(MigComponent, DefersTheGpusOfAnImageToItsBoot) {
  const testing::ScratchHost host;
  host.spec("    mig: {config: all-balanced}\n");
  const Ran plan = host.slipway({"plan"});
  EXPECT_THAT(plan.out, HasSubstr("partition the GPUs by the config all-balanced")) << plan.err;
  const Ran ran = host.slipway({"apply"});
  EXPECT_EQ(ran.code, 0) << ran.out << ran.err;
  EXPECT_TRUE(std::filesystem::exists(host.path("etc/systemd/system/slipway-boot.service")));
  EXPECT_THAT(host.slipway({"apply"}).out, HasSubstr("Nothing to do"));
  host.spec("    mig: {config: all-balancd}\n");
  const Ran misspelt = host.slipway({"plan"});
  EXPECT_EQ(misspelt.code, 1) << misspelt.out;
  EXPECT_THAT(misspelt.out + misspelt.err, HasSubstr("did you mean 'all-balanced'"));
  host.spec("    mig: {config: all-9g.99gb}\n");
  EXPECT_THAT(host.slipway({"plan"}).out, HasSubstr("slipway knows no GPU with the profile 9g.99gb"));
  host.spec("    mig: {config: x, configs: {version: v1, mig-configs: {y: [{devices: all, mig-enabled: false}]}}}\n");
  const Ran wrong = host.slipway({"plan"});
  EXPECT_EQ(wrong.code, 1) << "a mistake is told when the image is built, not by its first boot";
  EXPECT_THAT(wrong.out + wrong.err, HasSubstr("there is no config 'x'"));
}

// The component owns no files there, so before the fix it stayed in the generation, and the boot would have partitioned
// the GPUs; status did not list it, and a removal did not find it.
TEST(MigComponent, CanBeRemovedFromAnImage) {
  const testing::ScratchHost host;
  const auto applied = [&] {
    const Json status = Json::parse(host.slipway({"status", "-o", "json"}).out);
    std::vector<std::string> names;
    for (const auto& [name, component] : status["components"].items()) names.push_back(name);
    return names;
  };
  host.spec("    mig: {config: all-balanced}\n    dcgm: {}\n");
  ASSERT_EQ(host.slipway({"apply"}).code, 0);
  EXPECT_THAT(applied(), ElementsAre("dcgm", "mig", "slipway-boot"));
  host.spec("    dcgm: {}\n");
  ASSERT_EQ(host.slipway({"apply"}).code, 0);
  EXPECT_THAT(applied(), ElementsAre("dcgm", "slipway-boot"));
  EXPECT_THAT(host.slipway({"generations"}).out, HasSubstr("1: -mig"));

  host.spec("    mig: {config: all-balanced}\n    dcgm: {}\n");
  ASSERT_EQ(host.slipway({"apply"}).code, 0);
  const Ran one = host.slipway({"remove", "mig"});
  EXPECT_EQ(one.code, 0) << one.out << one.err;
  EXPECT_THAT(applied(), ElementsAre("dcgm", "slipway-boot"));
  host.spec("    mig: {config: all-balanced}\n");
  ASSERT_EQ(host.slipway({"apply"}).code, 0);
  const Ran all = host.slipway({"remove", "--all"});
  EXPECT_EQ(all.code, 0) << all.out << all.err;
  EXPECT_THAT(applied(), IsEmpty());
  EXPECT_EQ(host.slipway({"remove", "mig"}).code, 64);
}

TEST(MigComponent, RefusesAFileBesideConfigs) {
  const MigNode node("h100x1");
  node.section("config: a, file: /a, configs: {version: v1}");
  const Ran ran = node.slipway({"plan"});
  EXPECT_EQ(ran.code, 1);
  EXPECT_THAT(ran.out + ran.err, HasSubstr("mig has both `file` and `configs`"));
}

}  // namespace
}  // namespace slipway
