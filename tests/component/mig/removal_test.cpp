// SPDX-License-Identifier: Apache-2.0
// The state after a removal of the component: files and units as they were before it, GPUs as `on_remove` says.
#include "node.hpp"

namespace slipway {
namespace {

using slipway::testing::MigNode;
using slipway::testing::Ran;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

/// Returns every path of the root, except the simulated machine's own and the locks, which no boot keeps.
std::map<std::string, std::string> files_of(const MigNode& node) {
  auto files = node.host().tree();
  std::erase_if(files, [](const auto& each) { return each.first == "run" || each.first.starts_with("run/"); });
  return files;
}

struct Removal {
  std::string name;
  std::string section;                       ///< on_remove in the spec, empty: left out
  std::vector<std::string> instances_after;  ///< of each GPU
  std::string output;
};

class MigRemoval : public ::testing::TestWithParam<Removal> {};

TEST_P(MigRemoval, RestoresFilesAndUnitsAndFollowsOnRemove) {
  const MigNode node("h100x2,mig=3g.40gb");
  ASSERT_EQ(node.plan("all-1g.10gb").code, 2);
  node.host().put("etc/systemd/system/other.service", "[Unit]\nDescription=another's\n");
  const auto before = files_of(node);
  for (const char* config : {"all-1g.10gb", "all-balanced"}) {
    node.section(std::string("config: ") + config + ", state_file: /etc/features.d/mig" + GetParam().section);
    const Ran ran = node.slipway({"apply"});
    ASSERT_EQ(ran.code, 0) << ran.out << ran.err;
  }
  ASSERT_TRUE(std::filesystem::exists(node.host().path("etc/systemd/system/slipway-boot.service")));
  ASSERT_TRUE(std::filesystem::exists(node.host().path("etc/features.d/mig")));
  const Ran planned = node.slipway({"remove", "mig", "--dry-run"});
  EXPECT_THAT(planned.out, Not(HasSubstr("# keeps"))) << "that is what the last apply did";
  const Ran removed = node.slipway({"remove", "mig"});
  EXPECT_EQ(removed.code, 0) << removed.out << removed.err;
  EXPECT_THAT(removed.out + removed.err, HasSubstr(GetParam().output));
  EXPECT_EQ(files_of(node), before);
  for (const unsigned gpu : {0U, 1U}) EXPECT_EQ(node.instances(gpu), GetParam().instances_after) << "GPU " << gpu;
}

const std::vector<std::string> kBalanced{"1g.10gb at 0:1", "1g.10gb at 1:1", "2g.20gb at 2:2", "3g.40gb at 4:4"};
const std::vector<std::string> kFormer{"3g.40gb at 0:4", "3g.40gb at 4:4"};

INSTANTIATE_TEST_SUITE_P(
    OnRemove, MigRemoval,
    ::testing::Values(Removal{"ByDefault", "", kBalanced, "mig: removed"},
                      Removal{"Keep", ", on_remove: keep", kBalanced, "mig: removed"},
                      Removal{"Restore", ", on_remove: restore", kFormer, "give the GPUs their former MIG layouts"},
                      Removal{"Disable", ", on_remove: disable", {"off"}, "disable MIG on the GPUs"}),
    [](const auto& each) { return each.param.name; });

// Before the fix, with an empty label file, the plan said both that the GPUs stay as they are, and that MIG is disabled
// on them.
TEST(MigStays, WhileNoLabelNamesAConfig) {
  for (const char* on_remove : {"keep", "restore", "disable"}) {
    const MigNode node("h100x2");
    node.host().put("etc/labels", "nvidia.com/mig.config=all-1g.10gb\n");
    node.section(std::string("config: \"\", label_file: /etc/labels, state_file: /etc/features.d/mig, on_remove: ") +
                 on_remove);
    ASSERT_EQ(node.slipway({"apply"}).code, 0);
    node.host().put("etc/labels", "");
    const Ran plan = node.slipway({"plan"});
    EXPECT_EQ(plan.code, 0) << plan.out;
    EXPECT_THAT(plan.out, HasSubstr("so the GPUs stay as they are"));
    const Ran applied = node.slipway({"apply"});
    EXPECT_EQ(applied.code, 0) << applied.out << applied.err;
    EXPECT_EQ(node.instances(1).size(), 7U) << on_remove;
    EXPECT_TRUE(std::filesystem::exists(node.host().path("etc/features.d/mig")));
    EXPECT_TRUE(std::filesystem::exists(node.host().path("etc/systemd/system/slipway-boot.service")));
    EXPECT_EQ(node.slipway({"remove", "mig"}).code, 0) << "it is owned as before";
    EXPECT_EQ(node.instances(1).size(), std::string(on_remove) == "keep" ? 7U : 1U) << on_remove;
  }
}

// Before the fix, without the driver, the plan removed the layouts, and an apply failed.
TEST(MigStays, WhileTheDriverIsNotLoaded) {
  for (const char* on_remove : {"keep", "restore", "disable"}) {
    const MigNode node("h100x2");
    ASSERT_EQ(node.apply(std::string("all-1g.10gb, on_remove: ") + on_remove).code, 0);
    ASSERT_EQ(node.sim("driver unloaded").code, 0);
    const Ran plan = node.slipway({"plan"});
    EXPECT_EQ(plan.code, 0) << plan.out << plan.err;
    EXPECT_THAT(plan.out, HasSubstr("slipway-boot.service partitions the GPUs at each boot"));
    EXPECT_EQ(node.slipway({"apply"}).code, 0);
    const Ran verified = node.slipway({"verify"});
    EXPECT_EQ(verified.code, 0) << verified.out;
    EXPECT_THAT(verified.out, Not(HasSubstr("not as slipway left it")));
    ASSERT_EQ(node.sim("driver loaded").code, 0);
    EXPECT_EQ(node.slipway({"apply"}).code, 0);
    EXPECT_EQ(node.instances(1).size(), 7U) << on_remove;
  }
}

// Before the fix, the boot unit was removed first, so that no boot created the remaining instances; verify passed.
TEST(MigRemovals, ThatFailKeepTheBootUnitAndHaveARemedy) {
  const MigNode node("h100x2");
  ASSERT_EQ(node.apply("all-1g.10gb, on_remove: disable").code, 0);
  ASSERT_EQ(node.sim("process add 0 4711 10 compute trainer 9 0").code, 0);
  const Ran failed = node.slipway({"remove", "mig"});
  EXPECT_EQ(failed.code, 1) << failed.out << failed.err;
  EXPECT_THAT(failed.out, HasSubstr("slipway-boot: blocked"));
  EXPECT_THAT(failed.out + failed.err,
              AllOf(HasSubstr("spec.components.mig.on_remove"), Not(HasSubstr("drain policy"))))
      << "a removal has none";
  const auto unit = node.host().path("etc/systemd/system/slipway-boot.service");
  EXPECT_TRUE(std::filesystem::exists(unit));
  EXPECT_EQ(node.instances(1).size(), 7U);
  EXPECT_THAT(node.slipway({"status"}).out, HasSubstr("mig could not be removed: `slipway remove "));
  const Ran verified = node.slipway({"verify"});
  EXPECT_EQ(verified.code, 1) << verified.out;
  EXPECT_THAT(verified.out, HasSubstr("fail  mig.removal: the component could not be removed: GPU 0"));
  ASSERT_EQ(node.sim("process remove all").code, 0);
  EXPECT_EQ(node.slipway({"remove", "mig"}).code, 0);
  EXPECT_FALSE(std::filesystem::exists(unit));
  EXPECT_EQ(node.instances(1), std::vector<std::string>{"off"});
}

}  // namespace
}  // namespace slipway
