// SPDX-License-Identifier: Apache-2.0
#include "nvidia/health/resets.hpp"

#include <thread>

#include <gmock/gmock.h>

#include <slipway/testing/temp_dir.hpp>

#include "base/write/paused_commands.hpp"

namespace slipway::nvidia::health {
namespace {

using ::testing::ElementsAre;
using Words = std::vector<std::string>;

TEST(Resets, AreResetCommandsOfNvidiaSmi) {
  EXPECT_THAT(gpus_reset_by({"nvidia-smi", "-r", "-i", "3"}).value_or(Words{"-"}), ElementsAre("3"));
  EXPECT_THAT(gpus_reset_by({"/usr/bin/nvidia-smi", "--id=0000:5d:00.0, GPU-1", "--gpu-reset"}).value_or(Words{"-"}),
              ElementsAre("0000:5d:00.0", "GPU-1"));
  EXPECT_THAT(gpus_reset_by({"nvidia-smi", "-r"}).value_or(Words{"-"}), ElementsAre()) << "all of them";
  for (const Words& other :
       {Words{}, Words{"nvidia-smi"}, Words{"nvidia-smi", "-i", "3"}, Words{"sh", "-c", "nvidia-smi -r"},
        Words{"my-nvidia-smi", "-r"}, Words{"nvidia-smi", "-r", "-pm", "1"}})
    EXPECT_FALSE(gpus_reset_by(other).has_value()) << ::testing::PrintToString(other);
}

class KnownResets : public ::testing::Test {
 protected:
  void saw(const std::string& service, unsigned xid, std::optional<unsigned> instance = {}) {
    parts_[service]["GPU-3"] = {.name = "GPU 3 (0000:5d:00.0)",
                                .faults = {{.code = "xid-" + std::to_string(xid),
                                            .severity = Severity::fatal,
                                            .instance = instance,
                                            .xid = xid,
                                            .last = std::chrono::steady_clock::now()}},
                                .ended = {}};
  }
  void ran(const Words& words, int code = 0) {
    ASSERT_TRUE(base::record_paused_command(
                    root_, {words, code, std::chrono::steady_clock::now() + std::chrono::milliseconds(1)})
                    .ok());
    std::this_thread::sleep_for(std::chrono::milliseconds(2));  // so that it has ended
  }
  std::size_t left() const {
    const HealthOfGpus all = merged(with_resets(root_, parts_));
    return all.at("GPU-3").faults.size();
  }

  slipway::testing::TempDir folder_;
  RootDir root_ = RootDir::open(folder_.string()).value();
  SharedHealth parts_;
};

// Before the fix, with a driver before branch 570, a fault remained for 24 h after the reset that its remedy requested.
TEST_F(KnownResets, EndEarlierFaultsOfTheGpu) {
  for (const char* named : {"3", "GPU-3", "0000:5d:00.0", "00000000:5D:00.0", "1,3"}) {
    saw("dcgm", 79);
    saw("deviceplugin", 94, 2);
    EXPECT_EQ(left(), 2U) << named;
    ran({"nvidia-smi", "-r", "-i", named});
    EXPECT_EQ(left(), 0U) << named;
    EXPECT_TRUE(without_reset(with_resets(root_, parts_)).at("dcgm").at("GPU-3").faults.empty());
    saw("dcgm", 79);
    EXPECT_EQ(left(), 1U) << named << ": this one is later";
  }
}

TEST_F(KnownResets, ExcludeFailedOnesAndThoseOfOtherGpus) {
  saw("dcgm", 79);
  ran({"nvidia-smi", "-r", "-i", "3"}, 19);
  ran({"nvidia-smi", "-r", "-i", "33"});
  ran({"nvidia-smi", "-r", "-i", "0000:5e:00.0"});
  ran({"nvidia-smi", "-i", "3"});
  EXPECT_EQ(left(), 1U);
  ran({"nvidia-smi", "-r"});
  EXPECT_EQ(left(), 0U);
}

TEST(Remedy, HasTheAddressOfTheGpuInItsCommands) {
  EXPECT_EQ(remedy_for("reset (`nvidia-smi -r -i UUID`), see `nvidia-smi -q -i UUID`", "0000:5d:00.0"),
            "reset (`nvidia-smi -r -i 0000:5d:00.0`), see `nvidia-smi -q -i 0000:5d:00.0`");
  EXPECT_EQ(remedy_for("reboot", "0000:5d:00.0"), "reboot");
  EXPECT_EQ(wait_text(0), "");
  // Before the fix, the text "power the node off and on" continued without a break into the time until which the GPU is
  // not trusted.
  EXPECT_EQ(remedy_for("power the node off and on" + wait_text(1764311530), "0000:5d:00.0"),
            "power the node off and on. The GPU counts as unhealthy until the node reboots, until `slipway pause -- "
            "nvidia-smi -r -i 0000:5d:00.0` has reset the GPU, or until 2025-11-28 06:32:10 UTC if no new error comes: "
            "drivers before branch 570 do not report a reset");
}

}  // namespace
}  // namespace slipway::nvidia::health
