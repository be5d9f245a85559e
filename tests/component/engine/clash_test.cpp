// SPDX-License-Identifier: Apache-2.0
// Two components that want one path, found wherever one of the two is planned later or was applied before.
#include "scratch_host.hpp"

namespace slipway {
namespace {

using slipway::testing::Ran;
using slipway::testing::ScratchHost;
using ::testing::HasSubstr;

constexpr const char* kHolds = "    bystander: {file: /etc/taken}\n";
constexpr const char* kWants = "    probe: {files: {/etc/taken: \"mine\\n\"}}\n";

// Only the first plan was looked at: a component that was planned at its turn wrote over the other's file.
TEST(Clash, IsFoundWhenAComponentIsPlannedAtItsTurn) {
  const ScratchHost host;
  host.spec(std::string(kHolds) + "    probe: {files: {/etc/probe.conf: one}}\n" +
            "    follower: {needs: /etc/probe.conf, file: /etc/taken}\n");
  const Ran apply = host.slipway({"apply"});
  EXPECT_EQ(apply.code, 1);
  EXPECT_THAT(apply.err, HasSubstr("follower and bystander both want file /etc/taken"));
  EXPECT_EQ(host.text("etc/taken"), "here\n");
  EXPECT_EQ(host.text("etc/probe.conf"), "one");
}

// `--only` looked at its own components alone, and took over what the others hold.
TEST(Clash, IsFoundWithWhatAComponentOutsideOfOnlyHolds) {
  const ScratchHost host;
  host.spec(kHolds);
  ASSERT_EQ(host.slipway({"apply"}).code, 0);
  host.spec(std::string(kHolds) + kWants);
  const auto before = host.tree();
  for (const char* command : {"plan", "apply"}) {
    const Ran refused = host.slipway({command, "--only", "probe", "-f", host.folder().at("host.yaml").string()});
    EXPECT_EQ(refused.code, 1) << refused.out;
    EXPECT_THAT(refused.out + refused.err, HasSubstr("probe wants file /etc/taken, which bystander holds"));
    EXPECT_EQ(host.tree(), before);
  }
}

TEST(Clash, IsNoneWhenTheFileMovesFromOneComponentToTheOther) {
  const ScratchHost host;
  host.spec(kHolds);
  ASSERT_EQ(host.slipway({"apply"}).code, 0);
  host.spec(std::string("    bystander: {}\n") + kWants);
  const Ran apply = host.slipway({"apply"});
  ASSERT_EQ(apply.code, 0) << apply.err;
  EXPECT_EQ(host.text("etc/taken"), "mine\n");
}

}  // namespace
}  // namespace slipway
