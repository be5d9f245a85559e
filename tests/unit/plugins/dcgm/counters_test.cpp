// SPDX-License-Identifier: Apache-2.0
#include "dcgm/counters/counters.hpp"

#include <algorithm>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <slipway/text.hpp>

#include "dcgm/settings.hpp"
#include "nvidia/health/rules.hpp"

namespace slipway::dcgm {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

Counters read(const std::string& text) {
  auto counters = parse_counters(text, "c.csv");
  EXPECT_TRUE(counters.ok()) << counters.error().what;
  return counters.value_or({});
}

std::string names_of(const std::vector<Counter>& list) { return joined(list, " ", &Counter::name); }

TEST(Counters, OfDcgmExportersDefaultFileAreAllServed) {
  const Counters counters = read(std::string(default_counters()));
  EXPECT_THAT(counters.series, SizeIs(25));
  EXPECT_EQ(names_of(counters.labels), "DCGM_FI_DRIVER_VERSION");
  EXPECT_THAT(counters.left_out, IsEmpty());
  EXPECT_THAT(counters.warnings, IsEmpty());
}

TEST(Counters, AreReadAsDcgmExporterReadsThem) {
  const Counters counters = read(
      "# a comment\n"
      "\n"
      "DCGM_FI_DEV_GPU_TEMP, gauge, GPU temperature (in C).\r\n"
      "DCGM_FI_DEV_DEC_UTIL ,  gauge  , trailing blanks  \n"
      "DCGM_FI_DEV_FB_USED,counter,\"used, as \"\"NVML\"\" has it\"\n"
      "DCGM_FI_DEV_SERIAL, label, Serial\n");
  EXPECT_EQ(names_of(counters.series), "DCGM_FI_DEV_GPU_TEMP DCGM_FI_DEV_DEC_UTIL DCGM_FI_DEV_FB_USED");
  EXPECT_EQ(counters.series[0].help, "GPU temperature (in C).");
  EXPECT_EQ(counters.series[1].type, "gauge");
  EXPECT_EQ(counters.series[1].help, "trailing blanks");
  EXPECT_EQ(counters.series[2].type, "counter");
  EXPECT_EQ(counters.series[2].help, "used, as \"NVML\" has it");
  EXPECT_EQ(names_of(counters.labels), "DCGM_FI_DEV_SERIAL");
}

TEST(Counters, AreSortedByTheNumbersOfTheirFields) {
  const Counters counters = read(
      "DCGM_FI_PROF_GR_ENGINE_ACTIVE, gauge, a\nDCGM_FI_DEV_GPU_TEMP, gauge, b\nDCGM_FI_DEV_SM_CLOCK, gauge, c\n"
      "DCGM_FI_NVML_VERSION, label, d\nDCGM_FI_DEV_BRAND, label, e\n");
  EXPECT_EQ(names_of(counters.series), "DCGM_FI_DEV_SM_CLOCK DCGM_FI_DEV_GPU_TEMP DCGM_FI_PROF_GR_ENGINE_ACTIVE");
  EXPECT_EQ(names_of(counters.labels), "DCGM_FI_DEV_BRAND DCGM_FI_NVML_VERSION");
}

TEST(Counters, KeepTheNameThatTheFileHas) {
  const Counters counters = read("dcgm_gpu_temp, gauge, old\nDCGM_FI_DEV_GPU_UTIL_RATIO, gauge, new\n");
  EXPECT_EQ(names_of(counters.series), "dcgm_gpu_temp DCGM_FI_DEV_GPU_UTIL_RATIO");
  EXPECT_EQ(counters.series[0].field, find_field(150));
  EXPECT_EQ(counters.series[1].field, find_field(203));
}

TEST(Counters, ThatNvmlLacksAreNamedAndLeftOut) {
  const Counters counters = read(
      "DCGM_FI_DEV_NVSWITCH_POWER_VDD, gauge, a\nDCGM_FI_DEV_DIAG_MEMORY_RESULT, gauge, b\n"
      "DCGM_FI_DEV_GPU_TEMP, gauge, c\n");
  EXPECT_THAT(counters.left_out, ElementsAre("DCGM_FI_DEV_NVSWITCH_POWER_VDD", "DCGM_FI_DEV_DIAG_MEMORY_RESULT"));
  EXPECT_EQ(names_of(counters.series), "DCGM_FI_DEV_GPU_TEMP");
}

TEST(Counters, OfTheHealthRulesAreReadForTheHealthStatus) {
  const Counters counters = read("DCGM_EXP_GPU_HEALTH_STATUS, gauge, a\nDCGM_FI_DEV_ROW_REMAP_FAILURE, gauge, b\n");
  EXPECT_TRUE(counters.wants_exporter("DCGM_EXP_GPU_HEALTH_STATUS"));
  for (const auto& [name, rule] : nvidia::health::default_rules().counters()) {
    const auto has = [&, number = field_number(rule.field)](const Counter& each) {
      return each.field->number == number;
    };
    EXPECT_EQ(std::ranges::count_if(counters.series, has), 1) << rule.field;
  }
  const auto shown = [](const Counter& each) { return !each.hidden; };
  EXPECT_EQ(std::ranges::count_if(counters.series, shown), 1);
}

TEST(Counters, OfTheSameFieldAreCountedOnce) {
  const Counters counters = read("DCGM_FI_DEV_GPU_TEMP, gauge, a\ndcgm_gpu_temp, gauge, b\n");
  EXPECT_EQ(names_of(counters.series), "DCGM_FI_DEV_GPU_TEMP");
  ASSERT_THAT(counters.warnings, SizeIs(1));
  EXPECT_THAT(counters.warnings[0], HasSubstr("c.csv:2: dcgm_gpu_temp is in line 1 already"));
}

TEST(Counters, ThatAreInvalidAreRefusedWithTheirLineAndTheRemedy) {
  const std::vector<std::tuple<std::string, std::string, std::string>> table{
      {"\nDCGM_FI_DEV_GPU_TMEP, gauge, a\n", "c.csv:2: DCGM has no field 'DCGM_FI_DEV_GPU_TMEP'",
       "DCGM_FI_DEV_GPU_TEMP"},
      {"DCGM_FI_DEV_GPU_TEMP, guage, a\n", "c.csv:1: 'guage' is not a type", "gauge"},
      {"DCGM_FI_DEV_GPU_TEMP, gauge\n", "three parts, not 2", "FIELD, TYPE, HELP"},
      {"DCGM_FI_DEV_GPU_TEMP, gauge, a, b\n", "three parts, not 4", "in quotes"},
      {"   \n", "three parts, not 1", ""},
      {" # no comment\n", "a comment has its # in the first column", "the text before the #"},
      {"DCGM_FI_DEV_GPU_TEMP,\tgauge, x\n", "there is a tab beside 'gauge'", "commas and blanks"},
      {"\tDCGM_FI_DEV_GPU_TEMP, gauge, x\n", "there is a tab beside 'DCGM_FI_DEV_GPU_TEMP'", ""},
      {"DCGM_FI_DEV_GPU_TEMP, gauge, \"a\"\n", "there is a quote inside", "directly after the comma"},
      {"DCGM_FI_DEV_GPU_TEMP, gauge,\"a\n", "a quote is not closed", ""},
      {"DCGM_FI_DEV_GPU_TEMP, gauge,\"a\"b\n", "text after a closing quote", ""},
      {"DCGM_FI_DRIVER_VERSION, gauge, a\n", "is a string, which cannot", "label"},
      {"# nothing\n", "c.csv has no counter", "DCGM_FI_DEV_GPU_TEMP"},
      {"", "c.csv has no counter", ""}};
  for (const auto& [text, what, next] : table) {
    const auto counters = parse_counters(text, "c.csv");
    ASSERT_FALSE(counters.ok()) << text;
    EXPECT_EQ(counters.error().code, ErrorCode::invalid) << text;
    EXPECT_THAT(counters.error().what, HasSubstr(what)) << text;
    EXPECT_THAT(counters.error().next, HasSubstr(next)) << text;
  }
}

TEST(Counters, OfAFileWithAByteOrderMarkAreRead) {
  EXPECT_EQ(names_of(read("\xEF\xBB\xBF# saved by an editor\nDCGM_FI_DEV_GPU_TEMP, gauge, a\n").series),
            "DCGM_FI_DEV_GPU_TEMP");
}

// Before the fix, the error was "A row has three parts, not 1", for the line with apiVersion.
TEST(Counters, InAConfigMapAreReadWithTheirLinesInIt) {
  const std::string head = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: metrics-config}\ndata:\n";
  const auto counters_in = [&head](const std::string& data) { return counters_of("cm.yaml", head + data); };
  const auto good = counters_in("  dcgm-metrics.csv: |\n    # of the operator\n    DCGM_FI_DEV_GPU_TEMP, gauge, a\n");
  ASSERT_TRUE(good.ok()) << to_text(good.error());
  EXPECT_EQ(names_of(good->series), "DCGM_FI_DEV_GPU_TEMP");
  EXPECT_THAT(
      counters_in("  metrics: |\n    DCGM_FI_DEV_GPU_TEMP, gauge, a\n    DCGM_X, gauge, a\n  more: x\n").error().what,
      HasSubstr("cm.yaml:7: DCGM has no field"));
  EXPECT_THAT(counters_in("  one: a\n  two: b\n").error().what, HasSubstr("several entries (one, two)"));
  EXPECT_THAT(counters_in("").error().what, HasSubstr("no data"));
  EXPECT_THAT(counters_of("l.yaml", std::string("kind: List\nitems: []\n")).error().what,
              HasSubstr("of the kind List"));
}

TEST(Counters, AreBounded) {
  std::string text;
  for (std::size_t i = 0; i <= kMostCounters; ++i) text += "DCGM_FI_DEV_GPU_TEMP, gauge, a\n";
  const auto counters = parse_counters(text, "c.csv");
  ASSERT_FALSE(counters.ok());
  EXPECT_THAT(counters.error().what, HasSubstr("c.csv:1025: there are more than 1024 rows"));
}

TEST(FieldNames, LeadToEveryFieldThatIsServed) {
  std::set<unsigned> served;
  for (const std::string& name : field_names())
    if (const Field* field = find_field(field_number(name).value_or(0))) served.insert(field->number);
  EXPECT_GT(served.size(), 80U);
  EXPECT_EQ(field_number("DCGM_FI_PROF_DRAM_ACTIVE"), 1005U);
  EXPECT_EQ(field_number("DCGM_FI_NONE"), std::nullopt);
}

}  // namespace
}  // namespace slipway::dcgm
