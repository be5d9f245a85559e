// SPDX-License-Identifier: Apache-2.0
// Counters that are read at intervals of their own: dcgm-exporter's YAML file, and the ends of the intervals.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "dcgm/counters/config_file.hpp"
#include "dcgm/sampler/sampler.hpp"
#include "dcgm/sampler/schedule.hpp"

namespace slipway::dcgm {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// The example of NVIDIA's documentation.
constexpr const char* kWhole = R"(version: 1
metrics:
  file: /etc/dcgm-exporter/default-counters.csv
collection:
  interval: 30s
  watchGroups:
    - {name: fast, interval: 5s, fields: [DCGM_FI_DEV_GPU_TEMP, DCGM_FI_DEV_POWER_USAGE]}
    - {name: slow, interval: 5m, fields: ["DCGM_FI_DEV_*_REMAPPED_ROWS"]}
)";

std::string problem(const std::string& text) {
  const auto read = parse_config_file(text, "c.yaml");
  return read ? "" : read.error().where + ": " + read.error().what;
}

/// Returns a file with this text after its metrics.
std::string with_collection(const std::string& text) {
  return "version: 1\nmetrics: {file: /c.csv}\ncollection:\n" + text;
}

TEST(ConfigFile, IsThatOfDcgmExporter) {
  const auto file = parse_config_file(kWhole, "c.yaml");
  ASSERT_TRUE(file) << file.error().what;
  EXPECT_EQ(file->counters_file, "/etc/dcgm-exporter/default-counters.csv");
  EXPECT_EQ(file->interval, seconds(30));
  ASSERT_EQ(file->groups.size(), 2U);
  EXPECT_EQ(file->groups[1].interval, minutes(5));
  EXPECT_THAT(file->groups[0].patterns, ElementsAre("DCGM_FI_DEV_GPU_TEMP", "DCGM_FI_DEV_POWER_USAGE"));
}

TEST(ConfigFile, MayHoldTheCountersItself) {
  const auto file = parse_config_file(
      "version: 1\nmetrics:\n  fields:\n  - {name: DCGM_FI_DEV_GPU_TEMP, prometheusType: gauge, help: \"in C, "
      "really\"}\n"
      "  - {name: DCGM_FI_DEV_GPU_TMEP, prometheusType: gauge}\n",
      "c.yaml");
  ASSERT_TRUE(file) << file.error().what;
  ASSERT_EQ(file->rows.size(), 2U);
  EXPECT_EQ(file->rows[0].help, "in C, really");
  EXPECT_THAT(counters_of_rows(file->rows, "c.yaml").error().what, HasSubstr("c.yaml:5: DCGM has no field"));
  EXPECT_TRUE(counters_of_rows({file->rows[0]}, "c.yaml"));
}

TEST(ConfigFile, NamesFileLineAndKeyOfAMistake) {
  EXPECT_THAT(problem("version: 1\n"), HasSubstr("metrics needs either file or fields"));
  EXPECT_THAT(problem("metrics: {file: /c.csv}\n"), HasSubstr("the file has no version"));
  EXPECT_THAT(problem("version: 2\nmetrics: {file: /c.csv}\n"),
              HasSubstr("c.yaml:1:10: slipway does not read version"));
  EXPECT_THAT(problem("version: 1\nversion: 2\nmetrics: {file: /c.csv}\n"),
              HasSubstr("'version' is given twice; the other value is at c.yaml:1:10"));
  EXPECT_THAT(problem("version: 1\nmetrics: {fiel: /c.csv}\n"),
              HasSubstr("c.yaml:2:11: unknown key 'fiel' in metrics"));
  EXPECT_THAT(problem("version: 1\nmetrics: {file: c.csv}\n"), HasSubstr("not an absolute path"));
  EXPECT_THAT(problem("version: 1\nmetrics: {file: /c.csv, fields: [{name: a, prometheusType: gauge}]}\n"),
              HasSubstr("metrics needs either file or fields"));
  EXPECT_THAT(problem(std::string(kWhole) + "---\nversion: 1\n"), HasSubstr("a second document begins here"));
  EXPECT_THAT(problem("version: [1"), HasSubstr("c.yaml:"));
  EXPECT_THAT(problem(""), HasSubstr("the file has to be a map"));
}

TEST(ConfigFile, HasIntervalsWithinLimits) {
  EXPECT_THAT(problem(with_collection("  interval: 99ms\n")),
              HasSubstr("c.yaml:4:13: collection.interval: an interval of 99ms is too short"));
  EXPECT_THAT(problem(with_collection("  interval: 2h\n")), HasSubstr("too long"));
  EXPECT_THAT(problem(with_collection("  interval: soon\n")), HasSubstr("is not an interval"));
  EXPECT_THAT(problem(with_collection("  watchGroups: [{name: a, interval: 1ms, fields: [x]}]\n")),
              HasSubstr("too short"));
  EXPECT_THAT(problem(with_collection("  watchGroups: [{name: a, interval: 1s}]\n")),
              HasSubstr("needs name, interval and fields"));
  EXPECT_THAT(
      problem(with_collection("  watchGroups: [{name: a, interval: 1s, fields: [x]}, {name: a, interval: 2s, fields: "
                              "[y]}]\n")),
      HasSubstr("there are two groups 'a'"));
  std::string many = "  watchGroups:\n";
  for (int i = 0; i < 65; ++i) many += "  - {name: g" + std::to_string(i) + ", interval: 1s, fields: [x]}\n";
  EXPECT_THAT(problem(with_collection(many)), HasSubstr("more than 64 groups"));
}

Counters three() {
  return parse_counters(
             "DCGM_FI_DEV_GPU_TEMP, gauge, t\nDCGM_FI_DEV_POWER_USAGE, gauge, p\nDCGM_FI_DRIVER_VERSION, label, v\n",
             "c.csv")
      .value_or({});
}

TEST(WatchGroups, GiveTheirCountersAnInterval) {
  Counters counters = three();
  EXPECT_FALSE(has_own_intervals(counters));
  const std::vector<WatchGroup> groups{{.name = "fast", .place = "", .interval = seconds(1), .patterns = {"*_TEMP"}},
                                       {.name = "slow", .place = "", .interval = minutes(5), .patterns = {"*VERSION"}}};
  ASSERT_TRUE(check_groups(groups, counters));
  give_intervals(groups, seconds(10), counters);
  EXPECT_EQ(counters.series[0].every, seconds(1));
  EXPECT_EQ(counters.series[1].every, seconds(10));
  EXPECT_EQ(counters.labels[0].every, minutes(5));
  EXPECT_THAT(intervals_of(counters, seconds(10)), ElementsAre(seconds(1), seconds(10), minutes(5)));
}

TEST(WatchGroups, DoNotAffectOtherMetrics) {
  Counters counters =
      parse_counters("DCGM_EXP_GPU_HEALTH_STATUS, gauge, h\nDCGM_FI_DEV_GPU_TEMP, gauge, t\n", "c.csv").value_or({});
  give_intervals({{.name = "fast", .place = "", .interval = seconds(1), .patterns = {"*_TEMP"}}}, minutes(1), counters);
  for (const Counter& counter : counters.series)
    EXPECT_EQ(counter.every, counter.hidden ? seconds(60) : seconds(1)) << counter.name;
}

// Before the fix, such a group, which dcgm-exporter accepts, left the service without any counter.
TEST(WatchGroups, OfProcessorsAreTakenWithAWarning) {
  Counters counters =
      parse_counters("DCGM_FI_DEV_CPU_UTIL_TOTAL, gauge, c\nDCGM_FI_DEV_GPU_TEMP, gauge, t\n", "c.csv").value_or({});
  const std::vector<WatchGroup> groups{
      {.name = "cpu", .place = "", .interval = seconds(1), .patterns = {"DCGM_FI_DEV_CPU_*"}}};
  EXPECT_TRUE(check_groups(groups, counters));
  give_intervals(groups, minutes(1), counters);
  EXPECT_THAT(counters.warnings, ::testing::Contains(HasSubstr("the group 'cpu' does not apply to DCGM_FI_DEV_CPU_*")));
}

TEST(WatchGroups, AreAnErrorWhenTheyOverlapOrMatchNothing) {
  const Counters counters = three();
  const auto error = [&](const std::vector<WatchGroup>& groups) { return check_groups(groups, counters).error(); };
  const WatchGroup temperature{.name = "a", .place = "c.yaml:7:5", .interval = seconds(1), .patterns = {"*_TEMP"}};
  const WatchGroup all{.name = "b", .place = "c.yaml:8:5", .interval = seconds(2), .patterns = {"DCGM_FI_DEV_*"}};
  EXPECT_EQ(error({temperature, all}).where, "c.yaml:8:5");
  EXPECT_THAT(error({temperature, all}).what, HasSubstr("DCGM_FI_DEV_GPU_TEMP is in the group 'a' already"));
  EXPECT_THAT(error({{.name = "c", .place = "", .interval = seconds(1), .patterns = {"DCGM_FI_DEV_GPU_TMEP"}}}).what,
              HasSubstr("no counter is called 'DCGM_FI_DEV_GPU_TMEP'"));
}

TEST(Schedule, EndsIntervalsThatAreMultiplesTogether) {
  Schedule schedule;
  schedule.set({milliseconds(100), milliseconds(500)});
  Schedule::Clock::time_point now{hours(1)};
  EXPECT_THAT(schedule.take(now), ElementsAre(milliseconds(100), milliseconds(500)));
  EXPECT_THAT(schedule.take(now), IsEmpty());
  const Schedule::Clock::time_point begin = now;
  for (int i = 1; i <= 10; ++i) {
    now = begin + milliseconds(100 * i + 3);  // a check is never exactly in time
    EXPECT_EQ(schedule.take(now).size(), i % 5 == 0 ? 2U : 1U) << i;
    EXPECT_THAT(schedule.take(now), IsEmpty()) << i;
  }
}

TEST(Schedule, DoesNotRepeatMissedRuns) {
  Schedule schedule;
  schedule.set({seconds(1)});
  Schedule::Clock::time_point now{hours(1)};
  EXPECT_THAT(schedule.take(now), ElementsAre(seconds(1)));
  EXPECT_THAT(schedule.take(now + milliseconds(7500)), ElementsAre(seconds(1)));
  EXPECT_THAT(schedule.take(now + milliseconds(7900)), IsEmpty());
  EXPECT_THAT(schedule.take(now + seconds(8)), ElementsAre(seconds(1)));
}

TEST(Schedule, BeginsAgainWithOtherIntervalsAndOnRequest) {
  Schedule schedule;
  schedule.set({seconds(1), seconds(60)});
  const Schedule::Clock::time_point now{hours(1)};
  (void)schedule.take(now);
  schedule.set({seconds(1), seconds(60)});
  EXPECT_THAT(schedule.take(now), IsEmpty());
  schedule.set({seconds(1)});
  EXPECT_THAT(schedule.take(now), ElementsAre(seconds(1)));
  schedule.start_over();
  EXPECT_THAT(schedule.take(now), ElementsAre(seconds(1)));
}

TEST(LookOptions, IncludeAllWithoutIntervals) {
  const Counter fast{.name = "", .type = "", .help = "", .field = nullptr, .hidden = false, .every = seconds(1)};
  EXPECT_TRUE(LookOptions{}.has(fast));
  EXPECT_TRUE((LookOptions{.details = false, .due = {seconds(1)}}).has(fast));
  EXPECT_FALSE((LookOptions{.details = false, .due = {seconds(2)}}).has(fast));
}

}  // namespace
}  // namespace slipway::dcgm
