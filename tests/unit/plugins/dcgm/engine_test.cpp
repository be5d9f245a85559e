// SPDX-License-Identifier: Apache-2.0
// Addresses of a DCGM engine, and its values beside NVML's.
#include "dcgm/engine/engine.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "dcgm/engine/options.hpp"
#include "dcgm/exposition/exposition.hpp"
#include "dcgm/names/name_sets.hpp"

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

/// Two counters that NVML has, two that it does not have, and a label of DCGM's.
Counters counters() {
  return parse_counters(
             "DCGM_FI_DEV_GPU_TEMP, gauge, t\nDCGM_FI_PROF_SM_ACTIVE, gauge, s\nDCGM_FI_DEV_DIAG_EUD_RESULT, "
             "gauge, c\nDCGM_FI_DEV_DIAG_MEMORY_RESULT, gauge, v\n",
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
  const EngineReading reading{.gpus = {{"GPU-0", {{150, std::int64_t{99}}, {1002, 0.25}, {number, std::int64_t{8}}}}}};
  const Merged merged = with_engine(known, sample({}), reading);
  const std::string page = exposition_text(merged.sample, merged.counters, {});
  EXPECT_THAT(page, HasSubstr("DCGM_FI_PROF_SM_ACTIVE{gpu=\"0\",UUID=\"GPU-0\",device=\"nvidia0\"} 0.250000\n"));
  EXPECT_THAT(page, HasSubstr("DCGM_FI_DEV_GPU_TEMP{gpu=\"0\",UUID=\"GPU-0\",device=\"nvidia0\"} 40\n")) << "NVML's";
  EXPECT_THAT(page, HasSubstr(known.foreign[0].name + "{gpu=\"0\",UUID=\"GPU-0\",device=\"nvidia0\"} 8\n"));
  const Merged none = with_engine(known, sample({}), {});
  EXPECT_THAT(exposition_text(none.sample, none.counters, {}), Not(HasSubstr("PROF")));
}

TEST(EngineFields, AreOfGpusLinksAndNvSwitches) {
  EXPECT_EQ(field_level(858), FieldLevel::nv_switch);
  EXPECT_EQ(field_level(786), FieldLevel::switch_link);
  EXPECT_EQ(field_level(1509), FieldLevel::link) << "NVML does not have it";
  EXPECT_EQ(field_level(1529), FieldLevel::link) << "NVML tells it";
  EXPECT_EQ(field_level(1002), FieldLevel::gpu);
  EXPECT_EQ(abi::link_entity(abi::kSwitch, 3, 17), 0x03001103U);
  EXPECT_EQ(abi::link_of(0x03001103U), 17U);
  EXPECT_EQ(abi::owner_of(0x03001103U), 3U);
}

TEST(EngineValues, OfNvSwitchesAndLinksStandBesideThoseOfGpus) {
  const Counters known =
      parse_counters(
          "DCGM_FI_DEV_NVSWITCH_TEMPERATURE_CURRENT, gauge, t\nDCGM_FI_DEV_NVSWITCH_FIRMWARE_VERSION, "
          "label, f\nDCGM_FI_DEV_NVSWITCH_LINK_FLIT_ERRORS, counter, e\n"
          "DCGM_FI_DEV_NVLINK_PPCNT_IBPC_PORT_XMIT_WAIT, counter, w\n"
          "DCGM_FI_DEV_NVLINK_GET_STATE, gauge, s\n",
          "c.csv")
          .value_or({});
  Sample two;
  const GpuIdentity gpu{.index = 0, .uuid = "GPU-0", .bus_id = "", .model = ""};
  two.gpus.push_back({.gpu = gpu, .problem = "", .details = nullptr, .xids = {}});
  two.links.push_back({gpu, 1, {std::int64_t{1}}});
  const EngineReading reading{.gpu_links = {{{"GPU-0", 0}, {{1509, std::int64_t{5}}}},
                                            {{"GPU-0", 1}, {{1509, std::int64_t{6}}}},
                                            {{"GPU-9", 0}, {{1509, std::int64_t{7}}}}},
                              .switches = {{2, {{858, std::int64_t{40}}, {1524, std::string("96.10")}}}},
                              .switch_links = {{{2, 17}, {{786, std::int64_t{3}}}}}};
  const auto page = [&](const LinkSelection& selection) {
    const Merged merged = with_engine(known, two, reading, selection);
    return exposition_text(merged.sample, merged.counters, {});
  };
  const std::string all = page({});
  EXPECT_THAT(all, HasSubstr("DCGM_FI_DEV_NVSWITCH_TEMPERATURE_CURRENT{nvswitch=\"nvswitch2\",DCGM_FI_DEV_NVSWITCH_"
                             "FIRMWARE_VERSION=\"96.10\"} 40\n"));
  EXPECT_THAT(all, HasSubstr("LINK_FLIT_ERRORS{nvlink=\"17\",nvswitch=\"nvswitch2\"} 3\n"));
  EXPECT_THAT(all, HasSubstr("XMIT_WAIT{nvlink=\"1\",gpu=\"0\",gpu_uuid=\"GPU-0\",device=\"nvidia0\"} 5\n"));
  EXPECT_THAT(all, HasSubstr("XMIT_WAIT{nvlink=\"2\",gpu=\"0\",gpu_uuid=\"GPU-0\",device=\"nvidia0\"} 6\n"));
  EXPECT_THAT(all, HasSubstr("GET_STATE{nvlink=\"2\",gpu=\"0\",gpu_uuid=\"GPU-0\",device=\"nvidia0\"} 1\n"));
  EXPECT_THAT(all, Not(HasSubstr("GPU-9"))) << "no GPU that is seen here";
  EXPECT_THAT(page({.kind = DeviceSelection::Kind::gpus}), Not(HasSubstr("nvlink=\"17\"")));
  EXPECT_THAT(page({.kind = DeviceSelection::Kind::instances, .numbers = {2}}), Not(HasSubstr("nvswitch")));
}

// Before the fix, an engine's metrics had dcgm-exporter's names even if that set was not wanted.
TEST(EngineValues, AreNotReportedUnderUnselectedNames) {
  const Counters articles = with_fields_of({.dcgm = false, .articles = true}, counters());
  EXPECT_TRUE(articles.foreign.empty());
}

}  // namespace
}  // namespace slipway::dcgm
