// SPDX-License-Identifier: Apache-2.0
// `on_drift: replace`, for files that another program generates anew.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "runtime_fixture.hpp"

namespace slipway::toolkit {
namespace {

using slipway::testing::FakeHost;
using ::testing::HasSubstr;
using ::testing::Not;

TEST(RuntimeDrift, IsKeptUnlessTheSpecHasItReplaced) {
  FakeHost host;
  install(host, "containerd", "containerd", "1.7.24");
  const auto kept = plan_of(host, runtime_spec());
  ASSERT_TRUE(kept.ok());
  EXPECT_EQ(actions_of(host), "merge " + kConfig + "\n");
  EXPECT_NE(kept->actions()[0].text("on_drift"), "replace");
  const auto replaced = plan_of(host, runtime_spec({{"on_drift", "replace"}}));
  ASSERT_TRUE(replaced.ok()) << to_text(replaced.error());
  EXPECT_EQ(replaced->actions()[0].text("on_drift"), "replace");
  EXPECT_EQ(replaced->actions()[0].value("set"), kept->actions()[0].value("set"));
  EXPECT_EQ(replaced->outputs(), kept->outputs());
}

// On EKS nodeadm writes the file at each boot, after slipway-boot.service.
TEST(RuntimeDrift, IsMendedByAUnitThatWaitsForChangesOfTheFiles) {
  FakeHost host;
  install(host, "containerd", "containerd", "1.7.24");
  const auto plan = plan_of(host, runtime_spec({{"on_drift", "replace"}}));
  ASSERT_TRUE(plan.ok()) << to_text(plan.error());
  ASSERT_EQ(plan->actions().size(), 3U);
  const Action& service = plan->actions()[1];
  const Action& path = plan->actions()[2];
  EXPECT_EQ(service.target(), "slipway-runtime-mend.service");
  EXPECT_THAT(service.text("content"), HasSubstr(" apply --boot --only runtime\n"));
  EXPECT_THAT(service.text("content"), Not(HasSubstr("[Install]")));
  EXPECT_THAT(service.text("content"), Not(HasSubstr("oneshot"))) << "systemd refuses RestartForceExitStatus there";
  EXPECT_EQ(path.target(), "slipway-runtime-mend.path");
  EXPECT_EQ(path.value("enabled"), true);
  EXPECT_THAT(path.text("content"), HasSubstr("PathChanged=" + kConfig + "\n"));
}

}  // namespace
}  // namespace slipway::toolkit
