// SPDX-License-Identifier: Apache-2.0
// `slipway toolkit cdi …`, as a person types it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <slipway/testing/temp_dir.hpp>

#include "program.hpp"

namespace slipway {
namespace {

using ::testing::HasSubstr;

using testing::Ran;

Ran slipway(const std::string& words) { return testing::shell(SLIPWAY_PROGRAM " " + words + " 2>&1"); }

TEST(ToolkitTools, ListTheDevicesOfSpecs) {
  const testing::TempDir folder;
  folder.file("a.yaml", "cdiVersion: 0.5.0\nkind: a.b/c\ndevices: [{name: d, containerEdits: {env: [A=1]}}]\n");
  folder.file("broken.yaml", "kind: [");
  const Ran ran = slipway("toolkit cdi list --spec-dir " + folder.string());
  EXPECT_EQ(ran.status, 0);
  EXPECT_EQ(ran.output, "a.b/c=d\n");
  EXPECT_THAT(slipway("toolkit cdi list -v --spec-dir " + folder.string()).output, HasSubstr("broken.yaml"));
}

TEST(ToolkitTools, SayWhatThereIsWhenAskedForSomethingElse) {
  EXPECT_THAT(slipway("toolkit").output, HasSubstr("its components with tools are cdi and runtime"));
  EXPECT_THAT(slipway("toolkit runtime list").output, HasSubstr("runtime has no tool 'list'"));
  EXPECT_THAT(slipway("toolkit runtime list").output, HasSubstr("its tools are configure"));
  const Ran invented = slipway("toolkit cdi invent");
  EXPECT_NE(invented.status, 0);
  EXPECT_THAT(invented.output, HasSubstr("its tools are generate, list, transform, validate"));
  EXPECT_THAT(slipway("toolkit cdi generate --help").output, HasSubstr("--driver-root"));
}

TEST(ToolkitTools, NameTheFileThatIsNoSpec) {
  const testing::TempDir folder;
  folder.file("broken.yaml", "kind: [");
  const Ran ran = slipway("toolkit cdi validate " + folder.at("broken.yaml").string());
  EXPECT_EQ(ran.status, 1);
  EXPECT_THAT(ran.output, HasSubstr("broken.yaml:1:"));
}

}  // namespace
}  // namespace slipway
