// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "core/engine/unit/units.hpp"

namespace slipway::core {
namespace {

TEST(UnitProgram, IsTheInstalledOneForAnInstalledSlipway) {
  EXPECT_EQ(unit_program_in("/", "/usr", false), "/usr/bin/slipway");
  EXPECT_EQ(unit_program_in("/", "/home/me/build/release", false), "/usr/bin/slipway");
}

TEST(UnitProgram, OfAPortableFolderIsItsOwnAsTheRootSeesIt) {
  EXPECT_EQ(unit_program_in("/", "/opt/slipway", true), "/opt/slipway/bin/slipway");
  EXPECT_EQ(unit_program_in("/host", "/host/opt/slipway", true), "/opt/slipway/bin/slipway");
}

TEST(UnitProgram, OfAPortableFolderOutsideOfTheRootIsTheInstalledOne) {
  EXPECT_EQ(unit_program_in("/srv/image", "/opt/slipway", true), "/usr/bin/slipway");
  EXPECT_EQ(unit_program_in("/srv/image", "/srv/image-2/slipway", true), "/usr/bin/slipway");
}

}  // namespace
}  // namespace slipway::core
