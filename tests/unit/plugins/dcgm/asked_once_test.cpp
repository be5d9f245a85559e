// SPDX-License-Identifier: Apache-2.0
// The NVML calls of one sample: each value once, and constant data once for each driver.
#include <map>
#include <memory>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>

#include <slipway/testing/fake_host.hpp>

#include "dcgm/counters/counters.hpp"
#include "dcgm/names/name_sets.hpp"
#include "dcgm/sampler/details.hpp"
#include "dcgm/sampler/sampler.hpp"
#include "sim/state/functions.hpp"
#include "tests/unit/sim/sim_fixture.hpp"

namespace slipway::dcgm {
namespace {

using slipway::testing::FakeHost;
using ::testing::Contains;
using ::testing::Key;
using ::testing::Not;

class AskedOnce : public sim::SimTest {
 protected:
  void SetUp() override {
    make("h100x8");
    nvml_.reset();
    ::setenv("SLIPWAY_NVML", SIM_LIBRARY, 1);
  }
  void TearDown() override { ::unsetenv("SLIPWAY_NVML"); }

  Sample sample(bool details) { return sampler_.sample(counters_, {.details = details}); }
  /// Returns the calls by function for a sample, after the calls that read constants.
  std::map<std::string, std::uint64_t> calls_of_a_sample(bool details) {
    EXPECT_EQ(sample(details).entities.size(), 8U);
    EXPECT_EQ(tool("forget-calls"), 0);
    EXPECT_EQ(sample(details).entities.size(), 8U);
    std::map<std::string, std::uint64_t> calls;
    const auto machine = sim::read_sim_machine(folder_.string());
    EXPECT_TRUE(machine);
    for (std::uint32_t i = 0; machine && i < sim::kFunctionCount; ++i)
      if (const std::uint64_t count = (*machine)->functions[i].calls; count > 0) calls[sim::kFunctions[i].name] = count;
    return calls;
  }

  FakeHost host_;
  std::shared_ptr<const Counters> counters_ =
      std::make_shared<const Counters>(parse_counters(default_counters(), "default").value());
  Sampler sampler_{host_, {}, [](const char*, const std::string&) {}};
};

/// Number of calls for one GPU; a function that is not in this table is called once.
const std::map<std::string, std::uint64_t> kSeveralAnswers{
    {"nvmlDeviceGetClockInfo", 2},    // for the multiprocessors and for the memory
    {"nvmlDeviceGetFieldValues", 2},  // for the GPU, and for all its NVLinks together
};
/// Calls about the driver, not about a GPU.
const std::map<std::string, std::uint64_t> kOfTheDriver{{"nvmlSystemGetDriverVersion", 1},
                                                        {"nvmlDeviceGetCount_v2", 1}};

// Before the fix, the page read everything again that the counters had read, including the maximum clock (1.2 ms) and
// the MIG mode, twice.
TEST_F(AskedOnce, EachValueOfTheDefaultCountersAndOfThePageIsAskedOnce) {
  for (const bool details : {false, true})
    for (const auto& [function, count] : calls_of_a_sample(details)) {
      if (function.find("Event") != std::string::npos) continue;
      if (const auto whole = kOfTheDriver.find(function); whole != kOfTheDriver.end()) {
        EXPECT_EQ(count, whole->second) << function;
        continue;
      }
      const auto several = kSeveralAnswers.find(function);
      EXPECT_EQ(count, 8 * (several == kSeveralAnswers.end() ? 1 : several->second))
          << function << ", page: " << details;
    }
}

TEST_F(AskedOnce, ConstantValuesAreNotReadAgain) {
  counters_ = std::make_shared<const Counters>(parse_counters("DCGM_FI_DEV_NAME, label, n\n"
                                                              "DCGM_FI_DEV_SERIAL, label, s\n"
                                                              "DCGM_FI_DEV_BRAND, label, b\n"
                                                              "DCGM_FI_DRIVER_VERSION, label, v\n"
                                                              "DCGM_FI_DEV_MAX_SM_CLOCK, gauge, c\n"
                                                              "DCGM_FI_DEV_SLOWDOWN_TEMP, gauge, t\n"
                                                              "DCGM_FI_DEV_PCIE_MAX_LINK_GEN, gauge, g\n"
                                                              "DCGM_FI_DEV_POWER_MGMT_LIMIT_DEF, gauge, p\n"
                                                              "DCGM_FI_DEV_POWER_MGMT_LIMIT, gauge, p\n",
                                                              "c.csv")
                                                   .value());
  const auto calls = calls_of_a_sample(true);
  for (const char* constant :
       {"nvmlDeviceGetName", "nvmlDeviceGetSerial", "nvmlDeviceGetBrand", "nvmlDeviceGetMaxClockInfo",
        "nvmlDeviceGetTemperatureThreshold", "nvmlDeviceGetMaxPcieLinkGeneration",
        "nvmlDeviceGetPowerManagementDefaultLimit", "nvmlDeviceGetPciInfo_v3"})
    EXPECT_THAT(calls, Not(Contains(Key(std::string(constant)))));
  EXPECT_THAT(calls, Contains(std::pair("nvmlDeviceGetPowerManagementLimit", 8U))) << "which anybody may set";
  const Sample last = sample(true);
  for (std::size_t i = 0; i < counters_->labels.size(); ++i)
    EXPECT_GT(last.entities.at(3).labels.at(i).index(), 0U) << counters_->labels[i].name;
  for (std::size_t i = 0; i < counters_->series.size(); ++i)
    EXPECT_GT(last.entities.at(3).series.at(i).index(), 0U) << counters_->series[i].name;
  // The constants of another driver are read again.
  ASSERT_EQ(tool("driver 590.44.01"), 0);
  EXPECT_EQ(sample(true).driver_version, "590.44.01");
  EXPECT_THAT(sample(true).entities.at(0).labels, Contains(Value(std::string("590.44.01"))));
}

// Reading the MIG mode takes 160 us of the GPU's own processor.
TEST_F(AskedOnce, TheMigModeIsAskedWhenAnEventSaysThatItHasChanged) {
  EXPECT_THAT(calls_of_a_sample(true), Not(Contains(Key(std::string("nvmlDeviceGetMigMode")))));
  ASSERT_EQ(tool("gpu 2 mig on"), 0);
  pollfd event{sampler_.event_fd(), POLLIN, 0};
  ASSERT_EQ(::poll(&event, 1, 20'000), 1);
  EXPECT_TRUE(sampler_.take_events().states);
  const Sample changed = sample(true);
  EXPECT_TRUE(changed.gpus.at(2).details->mig_enabled);
  EXPECT_FALSE(changed.gpus.at(3).details->mig_enabled);
}

TEST_F(AskedOnce, XidsAndLostGpusComeByEventsBetweenSamples) {
  (void)sample(false);
  ASSERT_EQ(tool("gpu 4 xid 79"), 0);
  pollfd event{sampler_.event_fd(), POLLIN, 0};
  ASSERT_EQ(::poll(&event, 1, 20'000), 1);
  EventNews news = sampler_.take_events();
  ASSERT_THAT(news.xids, ::testing::SizeIs(1));
  EXPECT_EQ(news.xids[0].number, 79U);
  EXPECT_THAT(sample(false).xids, ::testing::SizeIs(1)) << "and they are in the next sample";
  ASSERT_EQ(tool("gpu 5 lost"), 0);
  ASSERT_EQ(::poll(&event, 1, 20'000), 1);
  EXPECT_TRUE(sampler_.take_events().states);
  EXPECT_EQ(sample(false).entities.size(), 7U);
}

TEST_F(AskedOnce, AGpuThatVanishesOrComesIsMissedInNoSample) {
  ASSERT_EQ(sample(false).entities.size(), 8U);
  ASSERT_EQ(tool("gpu 3 remove"), 0);
  EXPECT_EQ(sample(false).entities.size(), 7U);
  ASSERT_EQ(tool("gpu 3 restore"), 0);
  EXPECT_EQ(sample(false).entities.size(), 8U);
}

}  // namespace
}  // namespace slipway::dcgm
