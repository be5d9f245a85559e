// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "core/action/action_kind.hpp"

namespace slipway::core {
namespace {

std::string removal_of(const Action& action) {
  const auto kind = action_kind(action.kind());
  return kind ? (*kind)->removal(action) : kind.error().what;
}

TEST(TakingAThingAway, IsDescribedByItsEffect) {
  EXPECT_EQ(removal_of(action::file({.path = "/etc/x", .content = ""})), "remove /etc/x");
  EXPECT_EQ(removal_of(action::symlink("/usr/bin/x", "y")), "remove /usr/bin/x");
  EXPECT_EQ(removal_of(action::merge({.path = "/etc/c.toml", .format = "toml", .set = Json::object()})),
            "remove slipway's keys from /etc/c.toml");
  EXPECT_EQ(removal_of(action::unpack({.name = "driver", .layers = {}})), "drop what was unpacked for driver");
  EXPECT_EQ(removal_of(action::kernel_module("nvidia")), "unload nvidia");
  EXPECT_EQ(removal_of(action::remove("/etc/old")), "bring back /etc/old");
  EXPECT_EQ(removal_of(action::directory("/srv/d")), "remove the folder /srv/d if it is empty");
  EXPECT_EQ(removal_of(action::exec({.name = "tune", .argv = {"x"}, .check = {}, .undo = {}})), "undo tune");
}

}  // namespace
}  // namespace slipway::core
