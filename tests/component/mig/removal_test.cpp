// SPDX-License-Identifier: Apache-2.0
// What a removal of the component leaves: files and units as they were before it, GPUs as `on_remove` says.
#include "node.hpp"

namespace slipway {
namespace {

using slipway::testing::MigNode;
using slipway::testing::Ran;
using ::testing::HasSubstr;
using ::testing::Not;

/// Every path of the root, but for the simulated machine's own and the locks, which no boot keeps.
std::map<std::string, std::string> files_of(const MigNode& node) {
  auto files = node.host().tree();
  std::erase_if(files, [](const auto& each) { return each.first == "run" || each.first.starts_with("run/"); });
  return files;
}

struct Removal {
  std::string name;
  std::string section;                       ///< on_remove as the spec has it, empty: left out
  std::vector<std::string> instances_after;  ///< of each GPU
  std::string output;
};

class MigRemoval : public ::testing::TestWithParam<Removal> {};

TEST_P(MigRemoval, LeavesFilesAndUnitsAsTheyWereAndTheGpusAsAskedFor) {
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

}  // namespace
}  // namespace slipway
