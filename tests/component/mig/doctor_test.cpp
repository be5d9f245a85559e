// SPDX-License-Identifier: Apache-2.0
// What `slipway doctor` finds on a node with partitioned GPUs.
#include "node.hpp"

namespace slipway {
namespace {

using slipway::testing::MigNode;
using slipway::testing::Ran;
using ::testing::HasSubstr;
using ::testing::Not;

TEST(MigDoctor, HasNothingToSayAfterAnApply) {
  const MigNode node("h100x2");
  ASSERT_EQ(node.apply("all-balanced").code, 0);
  const Ran ran = node.slipway({"doctor"});
  EXPECT_EQ(ran.code, 0) << ran.out << ran.err;
  EXPECT_THAT(ran.out, Not(HasSubstr("  mig.")));
}

TEST(MigDoctor, FindsAGpuThatLostItsInstances) {
  const MigNode node("h100x2");
  ASSERT_EQ(node.apply("all-balanced").code, 0);
  ASSERT_EQ(node.sim("gpu 1 mig off").code, 0);
  ASSERT_EQ(node.sim("gpu 1 mig on").code, 0);
  const Ran ran = node.slipway({"doctor"});
  EXPECT_EQ(ran.code, 1) << ran.out << ran.err;
  EXPECT_THAT(ran.out, HasSubstr("fail  mig.no-instances"));
  EXPECT_THAT(ran.out, HasSubstr("no program can use GPU 1 (0000:2a:00.0)"));
  EXPECT_EQ(node.slipway({"apply"}).code, 0);
  EXPECT_EQ(node.slipway({"doctor"}).code, 0);
}

TEST(MigDoctor, GoesByTheConfigThatALabelNames) {
  const MigNode node("h100x1");
  node.host().put("etc/labels", "nvidia.com/mig.config=all-7g.80gb\n");
  node.section("config: all-enabled, label_file: /etc/labels");
  ASSERT_EQ(node.slipway({"apply"}).code, 0);
  EXPECT_EQ(node.slipway({"doctor"}).code, 0);
  ASSERT_EQ(node.sim("gpu 0 mig off").code, 0);
  ASSERT_EQ(node.sim("gpu 0 mig on").code, 0);
  const Ran ran = node.slipway({"doctor"});
  EXPECT_EQ(ran.code, 1);
  EXPECT_THAT(ran.out, HasSubstr("fail  mig.no-instances")) << ran.out;
  EXPECT_THAT(ran.out, HasSubstr("which makes the instances of the config all-7g.80gb"));
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
  EXPECT_THAT(ran.out, HasSubstr("warning  mig.unmanaged: no entry of the config first takes GPU 1"));
}

}  // namespace
}  // namespace slipway
