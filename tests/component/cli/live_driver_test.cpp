// SPDX-License-Identifier: Apache-2.0
// The driver on a running machine: what an apply leaves alone, and how it replaces a loaded driver by another one.
#include <filesystem>
#include <fstream>

#include "tests/component/cli/live_machine.hpp"
#include "tests/component/engine/installed.hpp"

namespace slipway {
namespace {

using slipway::testing::LiveMachine;
using slipway::testing::Ran;
using ::testing::HasSubstr;
using ::testing::Not;

const std::string kOlder = "535.261.03";
const std::string kNewer = "550.163.01";

/// A machine on which the older driver is installed and loaded.
class LiveDriver : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!LiveMachine::possible()) GTEST_SKIP() << "needs root";
    machine.driver(kOlder);
    const Ran ran = machine.slipway({"apply"});
    ASSERT_EQ(ran.code, 0) << ran.out << ran.err;
    ASSERT_EQ(machine.version_of("nvidia_uvm"), kOlder);
    machine.done();
  }
  LiveMachine machine;
};

// An upgrade of slipway's own package must not unload the driver's modules.
TEST_F(LiveDriver, IsNotTouchedAfterAnUpgradeOfSlipwayItself) {
  const testing::TempDir prefix;
  machine.use_program(testing::install_into(prefix, {SLIPWAY_TEST_PLUGINS}));
  machine.plugins = prefix.at("usr/lib/slipway/plugins");
  std::ofstream(std::filesystem::path(machine.plugins) / "driver.so", std::ios::app) << "another build";
  auto before = machine.tree();
  const Ran plan = machine.slipway({"plan"});
  EXPECT_EQ(plan.code, 0) << plan.out << plan.err;
  const Ran ran = machine.slipway({"apply"});
  EXPECT_EQ(ran.code, 0) << ran.out << ran.err;
  EXPECT_EQ(machine.done(), "");
  auto after = machine.tree();
  for (auto* tree : {&before, &after})
    std::erase_if(*tree, [](const auto& entry) { return entry.first.starts_with("var/lib/slipway/generations"); });
  EXPECT_EQ(after, before);
}

}  // namespace
}  // namespace slipway
