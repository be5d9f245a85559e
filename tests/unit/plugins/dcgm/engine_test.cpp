// SPDX-License-Identifier: Apache-2.0
// Addresses of a DCGM engine, and its values beside NVML's.
#include "dcgm/engine/engine.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "dcgm/engine/options.hpp"
#include "dcgm/exposition/exposition.hpp"

namespace slipway::dcgm {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

TEST(EngineAddresses, AreThoseOfDcgmExporter) {
  const std::vector<std::tuple<std::string, std::string, bool>> table{
      {"localhost:5555", "localhost:5555", false}, {"localhost", "localhost:5555", false},
      {"tcp://10.0.0.1:1", "10.0.0.1:1", false},   {"[::1]:5555", "[::1]:5555", false},
      {"[fe80::1]", "[fe80::1]:5555", false},      {"unix:///tmp/nv-hostengine", "/tmp/nv-hostengine", true}};
  for (const auto& [text, address, is_unix] : table) {
    const auto read = read_engine_address(text);
    ASSERT_TRUE(read) << text;
    EXPECT_EQ(read->text, address);
    EXPECT_EQ(read->is_unix_socket, is_unix);
  }
  for (const char* text : {"", ":5555", "a b", "host:", "host:0", "host:65536", "host:x", "::1", "[::1", "[::1]5555",
                           "unix://", "unix://relative", "vsock://2:5555", "host:1:2"})
    EXPECT_FALSE(read_engine_address(text)) << text;
  EXPECT_FALSE(read_engine_address("unix:///" + std::string(107, 'a')));
}

/// Two counters that NVML tells, two that it does not, and a label of DCGM's.
Counters counters() {
  return parse_counters(
             "DCGM_FI_DEV_GPU_TEMP, gauge, t\nDCGM_FI_PROF_SM_ACTIVE, gauge, s\nDCGM_FI_DEV_CUDA_COMPUTE_CAPABILITY, "
             "gauge, c\nDCGM_FI_DEV_VIRTUAL_MODE, gauge, v\n",
             "c.csv")
      .value_or({});
}

Sample sample(const Value& profiling) {
  Sample sample;
  Entity entity{.gpu = {.index = 0, .uuid = "GPU-0", .bus_id = "", .model = ""}};
  entity.series = {std::int64_t{40}, profiling};
  sample.entities.push_back(entity);
  return sample;
}

TEST(EngineFields, AreThoseThatNvmlDoesNotHave) {
  const Counters both = counters();
  ASSERT_EQ(both.series.size() + both.foreign.size(), 4U);
  const std::size_t foreign = both.foreign.size();
  EXPECT_EQ(fields_for_engine(both, sample(0.5)).size(), foreign);
  EXPECT_THAT(fields_for_engine(both, sample({})), ::testing::Contains(1002U)) << "a GPU before Hopper";
}

TEST(EngineValues, StandBesideThoseOfNvml) {
  const Counters known = counters();
  ASSERT_FALSE(known.foreign.empty());
  const unsigned number = *field_number(known.foreign[0].name);
  const EngineReading reading{{"GPU-0", {{150, std::int64_t{99}}, {1002, 0.25}, {number, std::int64_t{8}}}}};
  const Merged merged = with_engine(known, sample({}), reading);
  const std::string page = exposition_text(merged.sample, merged.counters, {});
  EXPECT_THAT(page, HasSubstr("DCGM_FI_PROF_SM_ACTIVE{gpu=\"0\",UUID=\"GPU-0\",device=\"nvidia0\"} 0.250000\n"));
  EXPECT_THAT(page, HasSubstr("DCGM_FI_DEV_GPU_TEMP{gpu=\"0\",UUID=\"GPU-0\",device=\"nvidia0\"} 40\n")) << "NVML's";
  EXPECT_THAT(page, HasSubstr(known.foreign[0].name + "{gpu=\"0\",UUID=\"GPU-0\",device=\"nvidia0\"} 8\n"));
  const Merged none = with_engine(known, sample({}), {});
  EXPECT_THAT(exposition_text(none.sample, none.counters, {}), Not(HasSubstr("PROF")));
}

}  // namespace
}  // namespace slipway::dcgm
