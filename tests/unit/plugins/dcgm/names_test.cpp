// SPDX-License-Identifier: Apache-2.0
// The same values under other names, and in OpenMetrics' format.
#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <slipway/text.hpp>

#include "dcgm/exposition/exposition.hpp"
#include "dcgm/names/name_sets.hpp"

namespace slipway::dcgm {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

/// Returns a sample in which each field's value is its number.
Sample sample_of(const Counters& counters, unsigned gpus) {
  Sample sample;
  for (unsigned i = 0; i < gpus; ++i) {
    Entity entity{.gpu = {i, "GPU-" + std::to_string(i), "", "H"}};
    for (const Counter& counter : counters.series)
      entity.series.push_back(counter.field->is_text() ? Value(std::string("text"))
                                                       : Value(std::int64_t{counter.field->number}));
    sample.entities.push_back(entity);
  }
  return sample;
}

std::string page_of(const NameSets& sets, unsigned gpus = 2) {
  const Counters counters = with_fields_of(
      sets, parse_counters("DCGM_FI_DEV_GPU_TEMP, gauge, t\nDCGM_FI_DEV_GPU_UTIL, gauge, u\n", "c").value_or({}));
  return exposition_text(sample_of(counters, gpus), counters, {.host_name = "n", .names = sets});
}

TEST(Names, AreThoseOfDcgmExporterByDefault) {
  EXPECT_THAT(page_of({}), HasSubstr("DCGM_FI_DEV_GPU_TEMP{"));
  EXPECT_THAT(page_of({}), Not(HasSubstr("\nnvidia_")));
}

TEST(Names, OfArticlesHaveOneSeriesOfEachGpuWithEqualLabels) {
  const std::string page = page_of({.dcgm = false, .articles = true});
  EXPECT_THAT(page, Not(HasSubstr("DCGM_FI_")));
  for (const char* name : {"nvidia_gpu_utilization", "nvidia_gpu_memory_used_bytes", "nvidia_gpu_memory_total_bytes",
                           "nvidia_gpu_temperature_celsius", "nvidia_gpu_ecc_errors_corrected_total",
                           "nvidia_nvlink_bandwidth_total_bytes"})
    for (const char* gpu : {"0", "1"})
      EXPECT_THAT(page, HasSubstr("\n" + std::string(name) + "{gpu=\"" + gpu + "\",pod=\"\",node=\"n\",uuid=\"GPU-" +
                                  gpu + "\"} "));
  EXPECT_THAT(page, HasSubstr("nvidia_gpu_temperature_celsius{gpu=\"0\",pod=\"\",node=\"n\",uuid=\"GPU-0\"} 150\n"));
}

// Before the fix, the power of a GPU was reported for each of its seven instances, so that a sum was seven times as
// high.
TEST(Names, OfConventionsTellOnceWhatOnlyTheWholeGpuHas) {
  const NameSets sets{.dcgm = false, .openmetrics = true};
  const Counters counters = with_fields_of(sets, Counters());
  Sample sample = sample_of(counters, 2);
  Entity second = sample.entities[0];
  sample.entities[0].instance = 3;
  second.instance = 5;
  sample.entities.insert(sample.entities.begin() + 1, second);
  const std::string page = exposition_text(sample, counters, {.host_name = "n", .names = sets});
  EXPECT_THAT(page, HasSubstr("nvidia_gpu_power_watts{gpu=\"0\",uuid=\"GPU-0\",node=\"n\"} 155\n"
                              "nvidia_gpu_power_watts{gpu=\"1\",uuid=\"GPU-1\",node=\"n\"} 155\n#"));
  for (const char* own : {"nvidia_gpu_memory_used_bytes", "nvidia_gpu_engine_active_ratio", "nvidia_gpu_last_xid"})
    for (const char* instance : {"3", "5"})
      EXPECT_THAT(page, HasSubstr("\n" + std::string(own) + "{gpu=\"0\",uuid=\"GPU-0\",gpu_instance_id=\"" + instance +
                                  "\",node=\"n\"} "));
}

TEST(Names, OfConventionsHaveBaseUnits) {
  const std::string page = page_of({.dcgm = false, .openmetrics = true});
  const std::string gpu = "{gpu=\"1\",uuid=\"GPU-1\",node=\"n\"";
  EXPECT_THAT(page, HasSubstr("nvidia_gpu_utilization_ratio" + gpu + "} 2.03\n"));
  EXPECT_THAT(page, HasSubstr("nvidia_gpu_energy_joules_total" + gpu + "} 0.156\n"));
  EXPECT_THAT(page, HasSubstr("nvidia_gpu_clock_hertz" + gpu + ",clock=\"sm\"} 100000000\n"));
  EXPECT_THAT(page, HasSubstr("nvidia_gpu_throttle_seconds_total" + gpu + ",reason=\"thermal\"} 2.41e-07\n"));
  EXPECT_THAT(page, HasSubstr(",vbios_version=\"text\"} 1\n"));
}

TEST(Names, AreUnique) {
  const std::string page = page_of({.dcgm = true, .openmetrics = true, .articles = true});
  std::set<std::string> families;
  std::set<std::string> series;
  for (const std::string& line : lines_of(page)) {
    if (line.starts_with("# TYPE ")) {
      EXPECT_TRUE(families.insert(line).second) << line;
    } else if (!line.starts_with("#")) {
      EXPECT_TRUE(series.insert(line.substr(0, line.rfind(' '))).second) << line;
    }
  }
  EXPECT_GT(families.size(), 30U);
}

TEST(Names, NeedASet) {
  EXPECT_EQ(parse_name_sets({}, "names").error().code, ErrorCode::invalid);
  EXPECT_THAT(parse_name_sets({"artikles"}, "names").error().next, HasSubstr("articles"));
  EXPECT_TRUE(parse_name_sets({"dcgm", "articles"}, "names").value().articles);
}

TEST(OpenMetrics, HasItsOwnWordsForCountersUnitsAndTheEnd) {
  EXPECT_EQ(openmetrics_text("# HELP nvidia_gpu_energy_joules_total \"E\"\n"
                             "# TYPE nvidia_gpu_energy_joules_total counter\n"
                             "nvidia_gpu_energy_joules_total{gpu=\"0\"} 4\n"
                             "# HELP DCGM_FI_DEV_PCIE_REPLAY_COUNTER Replays\n"
                             "# TYPE DCGM_FI_DEV_PCIE_REPLAY_COUNTER counter\n"
                             "DCGM_FI_DEV_PCIE_REPLAY_COUNTER 1\n"
                             "# HELP a_bytes b\n# TYPE a_bytes summary\na_bytes 1\n"),
            "# HELP nvidia_gpu_energy_joules \\\"E\\\"\n# TYPE nvidia_gpu_energy_joules counter\n"
            "# UNIT nvidia_gpu_energy_joules joules\nnvidia_gpu_energy_joules_total{gpu=\"0\"} 4\n"
            "# HELP DCGM_FI_DEV_PCIE_REPLAY_COUNTER Replays\n# TYPE DCGM_FI_DEV_PCIE_REPLAY_COUNTER unknown\n"
            "DCGM_FI_DEV_PCIE_REPLAY_COUNTER 1\n"
            "# HELP a_bytes b\n# TYPE a_bytes unknown\na_bytes 1\n# EOF\n");
  EXPECT_EQ(openmetrics_text(""), "# EOF\n");
  EXPECT_EQ(openmetrics_text("# HELP\n"), "# HELP\n# EOF\n");
}

}  // namespace
}  // namespace slipway::dcgm
