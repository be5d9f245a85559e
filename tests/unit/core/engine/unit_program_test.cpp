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

TEST(UnitWord, KeepsOddPathsTogether) {
  EXPECT_EQ(unit_word("/opt/slipway/bin/slipway"), "/opt/slipway/bin/slipway");
  EXPECT_EQ(unit_word("/opt/50%/slipway"), "/opt/50%%/slipway");
  EXPECT_EQ(unit_word("/opt/my tools/slipway"), "\"/opt/my tools/slipway\"");
  EXPECT_EQ(unit_word("/opt/a\"b\\c"), "\"/opt/a\\\"b\\\\c\"");
}

TEST(UnitWhileInstalled, NamesTheProgramAsSystemdReadsConditions) {
  EXPECT_EQ(unit_while_installed("/usr/bin/slipway"), "ConditionFileIsExecutable=/usr/bin/slipway\n");
  EXPECT_EQ(unit_while_installed("/opt/my 50%/slipway"), "ConditionFileIsExecutable=/opt/my 50%%/slipway\n");
}

}  // namespace
}  // namespace slipway::core
