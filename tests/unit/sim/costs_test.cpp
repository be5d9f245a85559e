// SPDX-License-Identifier: Apache-2.0
// Calls of the simulated NVML with the costs of a real machine. Only lower limits: other programs use this machine too.
#include <chrono>
#include <ctime>
#include <fstream>

#include <gmock/gmock.h>

#include "nvidia/nvml/abi/sample.h"
#include "sim/model/model.hpp"
#include "tests/unit/sim/direct_library.hpp"
#include "tests/unit/sim/sim_fixture.hpp"

namespace slipway::sim {
namespace {

using ::testing::HasSubstr;

std::int64_t processor_us() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return std::int64_t{time.tv_sec} * 1000000 + time.tv_nsec / 1000;
}

long anonymous_kib() {
  std::ifstream in("/proc/self/status");
  for (std::string line; std::getline(in, line);)
    if (line.starts_with("RssAnon:")) return std::stol(line.substr(8));
  return 0;
}

/// Returns the processor time that a call takes of its thread, in microseconds.
template <class Call>
std::int64_t burnt(Call call) {
  const std::int64_t before = processor_us();
  EXPECT_EQ(call(), NVML_SUCCESS);
  return processor_us() - before;
}

class SimCosts : public SimTest {
 protected:
  void open(const std::string& profile) {
    make(profile);
    ASSERT_EQ(library_.call("nvmlInit_v2"), NVML_SUCCESS);
  }
  nvmlReturn_t ask_fields(std::vector<unsigned> ids) {
    std::vector<nvmlFieldValue_t> values(ids.size());
    for (std::size_t i = 0; i < ids.size(); ++i) values[i].fieldId = ids[i];
    return library_.call("nvmlDeviceGetFieldValues", library_.gpu(0), static_cast<int>(ids.size()), values.data());
  }
  DirectLibrary library_;
};

TEST_F(SimCosts, AreNothingUnlessRequested) {
  for (const char* name : {"h100x8", "h100x8,costs=off"}) {
    const auto machine = make_sim_machine(*read_sim_profile(name, {SIM_PROFILES}), {SIM_PROFILES});
    ASSERT_TRUE(machine.ok()) << to_text(machine.error());
    for (const sim::FunctionState& function : (*machine)->functions) EXPECT_EQ(function.cost.processor_us, 0U);
    EXPECT_EQ((*machine)->costs.first_initialisation.processor_us, 0U);
    EXPECT_EQ((*machine)->costs.field_us[83], 0U);
    EXPECT_EQ((*machine)->costs.memory_kib, 0U);
  }
}

TEST_F(SimCosts, OfOpeningAreOfAProcessAndOfItsMemory) {
  make("h100x8,costs=on");
  const long before = anonymous_kib();
  EXPECT_GE(burnt([&] { return library_.call("nvmlInit_v2"); }), 14000);
  EXPECT_GE(anonymous_kib() - before, 13000);
  const long open = anonymous_kib();
  EXPECT_GE(burnt([&] { return library_.call("nvmlShutdown"); }), 10000);
  const std::int64_t again = burnt([&] { return library_.call("nvmlInit_v2"); });
  EXPECT_GE(again, 3500);
  EXPECT_LT(again, 14000);  // processor time: other processes do not count
  EXPECT_LT(anonymous_kib() - open, 5000);
  EXPECT_LT(burnt([&] { return library_.call("nvmlInit_v2"); }), 3000) << "it is open already";
  EXPECT_LT(burnt([&] { return library_.call("nvmlShutdown"); }), 3000) << "it stays open";
}

TEST_F(SimCosts, OfMemoryEndWhenTheLibraryIsUnloaded) {
  make("h100x8,costs=on");
  const long before = anonymous_kib();
  {
    const DirectLibrary other;
    ASSERT_EQ(other.call("nvmlInit_v2"), NVML_SUCCESS);
    ASSERT_EQ(other.call("nvmlShutdown"), NVML_SUCCESS);
    EXPECT_GE(anonymous_kib() - before, 13000);
  }
  EXPECT_LT(anonymous_kib() - before, 5000);
}

TEST_F(SimCosts, AreBurntByTheCall) {
  open("h100x1,costs=on");
  const nvmlDevice_t gpu = library_.gpu(0);
  unsigned current = 0;
  unsigned pending = 0;
  std::int64_t all = 0;
  for (int i = 0; i < 20; ++i)
    all += burnt([&] { return library_.call("nvmlDeviceGetMigMode", gpu, &current, &pending); });
  EXPECT_GE(all, 20 * 150);
  EXPECT_LT(all, 20 * 1500);
}

TEST_F(SimCosts, SleepForTheTimeBeyondTheProcessorTime) {
  open("h100x1,costs=h100-580");
  const nvmlDevice_t gpu = library_.gpu(0);
  unsigned value = 0;
  const auto begin = std::chrono::steady_clock::now();
  const std::int64_t processor = burnt([&] { return library_.call("nvmlDeviceGetPcieThroughput", gpu, 0U, &value); });
  EXPECT_GE(std::chrono::steady_clock::now() - begin, std::chrono::microseconds(20800));
  EXPECT_GE(processor, 700);
  EXPECT_LT(processor, 10000);
}

TEST_F(SimCosts, OfFieldsAndMetricsAddUp) {
  open("h100x1,costs=on");
  EXPECT_GE(burnt([&] { return ask_fields({83, 173, 174}); }), 2931 + 142 + 149 - 20);
  EXPECT_LT(burnt([&] { return ask_fields({82, 143, 144}); }), 1000);
  nvmlGpmSample_t samples[2]{};
  for (nvmlGpmSample_t& sample : samples) {
    ASSERT_EQ(library_.call("nvmlGpmSampleAlloc", &sample), NVML_SUCCESS);
    ASSERT_EQ(library_.call("nvmlGpmSampleGet", library_.gpu(0), sample), NVML_SUCCESS);
  }
  const auto request = std::make_unique<nvmlGpmMetricsGet_t>();
  *request = {};
  request->version = 1;
  request->numMetrics = 12;
  request->sample1 = samples[0];
  request->sample2 = samples[1];
  for (unsigned i = 0; i < 12; ++i) request->metrics[i].metricId = i + 1;
  EXPECT_GE(burnt([&] { return library_.call("nvmlGpmMetricsGet", request.get()); }), 1200);
  for (const nvmlGpmSample_t sample : samples) EXPECT_EQ(library_.call("nvmlGpmSampleFree", sample), NVML_SUCCESS);
}

TEST_F(SimCosts, AreSummedUp) {
  open("h100x1,costs=on");
  ASSERT_EQ(tool("forget-calls"), 0);
  EXPECT_EQ(ask_fields({83, 173}), NVML_SUCCESS);
  EXPECT_EQ(ask_fields({82}), NVML_SUCCESS);
  ASSERT_EQ(tool("costs"), 0);
  std::ifstream in(folder_.string() + "/output");
  const std::string costs{std::istreambuf_iterator<char>(in), {}};
  EXPECT_THAT(costs, HasSubstr("nvmlDeviceGetFieldValues 2 3074\n"));
  EXPECT_THAT(costs, HasSubstr("nvmlDeviceGetHandleByIndex_v2 2 2\nall 4 3076\n"));
}

TEST_F(SimCosts, AreSetForOneFunctionFromOutside) {
  open("h100x1");
  ASSERT_EQ(tool("function nvmlDeviceGetIndex processor 5000"), 0);
  unsigned index = 0;
  const nvmlDevice_t gpu = library_.gpu(0);
  EXPECT_GE(burnt([&] { return library_.call("nvmlDeviceGetIndex", gpu, &index); }), 4900);
}

/// Returns the problem of a file of costs; empty when it is valid.
std::string problem_of(const std::string& text) {
  const slipway::testing::TempDir folder;
  std::filesystem::create_directory(folder.at("costs"));
  std::ofstream(folder.at("costs/x.yaml")) << "apiVersion: slipway.dev/sim/v1\ncosts: x\nabout: y\n" << text;
  const auto machine = std::make_unique<sim::Machine>();
  const Status read = apply_sim_costs("x", {folder.string()}, *machine);
  return read ? std::string() : to_text(read.error());
}

TEST(SimCostsFile, NamesFunctionsAndFieldsThatExist) {
  EXPECT_EQ(problem_of("functions: {nvmlInit: {processor: 5}}\nfields: {82: 1}\n"), "");
  EXPECT_THAT(problem_of("functions:\n  nvmlDeviceGetColour: {processor: 5}\n"),
              AllOf(HasSubstr("x.yaml:5:3"), HasSubstr("NVML has no function 'nvmlDeviceGetColour'")));
  EXPECT_THAT(problem_of("fields:\n  9999: 1\n"),
              AllOf(HasSubstr("x.yaml:5:3"), HasSubstr("'9999' is not the number of a field")));
  EXPECT_THAT(problem_of("functions: {nvmlInit: {processor: -5}}\n"), HasSubstr("x.yaml:4:"));
  EXPECT_THAT(problem_of("functions: {nvmlInit: {wall: 5}}\n"), HasSubstr("processor"));
}

TEST(SimCostsFile, IsNamedInTheSetting) {
  const auto refused = [](const std::string& profile) {
    const auto machine = make_sim_machine(*read_sim_profile(profile, {SIM_PROFILES}), {SIM_PROFILES});
    return machine ? std::string() : to_text(machine.error());
  };
  EXPECT_EQ(refused("a100-80x8,costs=h100-580"), "");
  EXPECT_THAT(refused("a100-80x8,costs=on"), HasSubstr("costs=h100-580"));
  EXPECT_THAT(refused("h100x8,costs=h100-585"), HasSubstr("did you mean 'costs=h100-580'?"));
  EXPECT_THAT(refused("h100x8,costs=../models/h200"), HasSubstr("there are no simulated costs"));
}

}  // namespace
}  // namespace slipway::sim
