// SPDX-License-Identifier: Apache-2.0
// DCGM_EXP_GPU_HEALTH_STATUS, as dcgm-exporter prints it, from slipway's health rules.
#include "dcgm/health/health_status.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "dcgm/environment/variables.hpp"
#include "dcgm/exposition/exposition.hpp"
#include "dcgm/health/health_watch.hpp"
#include "dcgm/page/overview.hpp"

namespace slipway::dcgm {
namespace {

namespace health = nvidia::health;
using ::testing::HasSubstr;
using ::testing::Not;

class HealthStatus : public ::testing::Test {
 protected:
  void xid(unsigned number) { record_.xid("GPU-0", std::nullopt, number, health::default_rules(), {}); }
  void counter(const char* rule, double value) {
    record_.value("GPU-0", health::default_rules().counters().at(rule), value, {});
  }
  /// Returns the watches that do not pass: "MEM 20 DCGM_FR_…".
  std::string failing(bool answers = true) const {
    std::string all;
    for (const WatchStatus& status : watch_statuses(record_.of("GPU-0"), health::default_rules(), answers))
      if (status.value != 0)
        all += (all.empty() ? "" : ", ") + std::string(status.watch) + " " + std::to_string(status.value) + " " +
               std::string(status.error);
    return all;
  }
  HealthRecord record_;
};

TEST_F(HealthStatus, HasAllWatchesOfDcgm) {
  std::string watches;
  for (const WatchStatus& status : watch_statuses({}, health::default_rules(), true)) {
    watches += std::string(status.watch) + " ";
    EXPECT_EQ(status.value, 0);
    EXPECT_EQ(status.error, "DCGM_FR_OK");
  }
  EXPECT_EQ(watches, "PCIE NVLINK PMU MCU MEM SM INFOROM THERMAL POWER DRIVER ALL ");
}

TEST_F(HealthStatus, HasXidsWhereDcgmHasThem) {
  xid(64);
  xid(79);
  xid(31);  // a program's mistake
  EXPECT_EQ(failing(), "MEM 20 DCGM_FR_ROW_REMAP_FAILURE, ALL 20 DCGM_FR_FALLEN_OFF_BUS");
}

TEST_F(HealthStatus, HasTheWorstOfAWatch) {
  xid(63);
  EXPECT_EQ(failing(), "MEM 10 DCGM_FR_PENDING_PAGE_RETIREMENTS");
  counter("row-remap-failure", 1);
  EXPECT_EQ(failing(), "MEM 20 DCGM_FR_ROW_REMAP_FAILURE");
}

TEST_F(HealthStatus, CountsAnUnknownXidInTheCategoryAll) {
  xid(4242);
  EXPECT_EQ(failing(), "ALL 10 DCGM_FR_XID_ERROR");
}

TEST_F(HealthStatus, OfAGpuThatCannotBeReadFails) { EXPECT_EQ(failing(false), "DRIVER 20 DCGM_FR_NVML_API"); }

// A GPU that fell off the bus has no other series, and a GPU with instances has one for the whole GPU.
TEST_F(HealthStatus, GetsEachGpuThatWasEverSeen) {
  Counters counters = parse_counters("DCGM_EXP_GPU_HEALTH_STATUS, gauge, Health\n", "c.csv").value_or({});
  Sample sample;
  sample.gpus.resize(2);
  sample.gpus[0].gpu = {.index = 0, .uuid = "GPU-0", .bus_id = "0", .model = "H"};
  sample.gpus[1].gpu = {.index = 1, .uuid = "GPU-1", .bus_id = "1", .model = "H"};
  sample.gpus[1].problem = "lost";
  for (const unsigned instance : {7U, 8U}) {
    Entity entity{.gpu = sample.gpus[0].gpu};
    entity.instance = instance;
    entity.series.resize(counters.series.size());
    sample.entities.push_back(entity);
  }
  const auto all = [](bool answers) { return watch_statuses({}, health::default_rules(), answers); };
  Exporter exporter{.host_name = "n", .health = {{"GPU-0", all(true)}, {"GPU-1", all(false)}}};
  const std::string page = exposition_text(sample, counters, exporter);
  EXPECT_THAT(page,
              HasSubstr("# TYPE DCGM_EXP_GPU_HEALTH_STATUS gauge\nDCGM_EXP_GPU_HEALTH_STATUS{gpu=\"0\",UUID=\"GPU-0\","
                        "pci_bus_id=\"0\",device=\"nvidia0\",modelName=\"H\",Hostname=\"n\","
                        "health_error_code=\"DCGM_FR_OK\",health_watch=\"PCIE\"} 0\n"));
  EXPECT_THAT(page, HasSubstr("health_error_code=\"DCGM_FR_NVML_API\",health_watch=\"DRIVER\"} 20\n"));
  EXPECT_THAT(page, Not(HasSubstr("GPU_I_ID")));
  std::size_t count = 0;
  for (std::size_t at = 0; (at = page.find("\nDCGM_EXP_GPU_HEALTH_STATUS{", at)) != std::string::npos; ++at) ++count;
  EXPECT_EQ(count, 22U);
  exporter.released = true;
  EXPECT_THAT(exposition_text(sample, counters, exporter), Not(HasSubstr("HEALTH_STATUS{")));
}

// Before the fix, a rule about a missing field was silently ignored.
TEST(RuleFields, HaveToBeThere) {
  const auto problem = [](const std::string& field) {
    health::Rules rules = health::default_rules();
    const Status added =
        rules.add("version: v1\ncounters:\n  mine: {field: " + field + ", above: 1, what: mine}\n", "site.yaml");
    EXPECT_TRUE(added) << added.error().what;
    const Status checked = check_rule_fields(rules);
    return checked ? "" : checked.error().where + ": " + checked.error().what;
  };
  EXPECT_EQ(problem("DCGM_FI_DEV_GPU_TEMP"), "");
  EXPECT_EQ(problem("DCGM_FI_DEV_GPU_TMEP"),
            "site.yaml:3:17: counters.mine.field: DCGM has no field 'DCGM_FI_DEV_GPU_TMEP'");
  EXPECT_THAT(problem("DCGM_FI_DEV_DIAG_MEMORY_RESULT"), HasSubstr("is not read from NVML"));
  EXPECT_THAT(problem("DCGM_FI_DEV_SERIAL"), HasSubstr("is a string"));
  EXPECT_THAT(problem("DCGM_FI_DEV_CPU_UTIL_TOTAL"), HasSubstr("belongs to a link or a processor"));
  EXPECT_TRUE(check_rule_fields(health::default_rules()));
}

// Before the fix, the error named a key that the spec did not have.
TEST(Variables, AreNamedInErrorsAboutThem) {
  const Error error{
      .code = ErrorCode::invalid, .what = "an interval of 5ms is too short", .where = "spec.components.dcgm.interval"};
  EXPECT_EQ(blamed_on_variable(error, {"DCGM_EXPORTER_INTERVAL"}).where, "environment variable DCGM_EXPORTER_INTERVAL");
  EXPECT_EQ(blamed_on_variable(error, {"DCGM_EXPORTER_LISTEN"}).where, "spec.components.dcgm.interval");
}

// CSI as one character, U+009B, in a process' name.
TEST(TerminalSafe, EscapesTerminalControls) {
  EXPECT_EQ(terminal_safe("{\"a\":\"x\xc2\x9b"
                          "31m\x7fy\xc3\xa9\xc2\xa0\"}"),
            "{\"a\":\"x\\u009b31m\\u007fy\xc3\xa9\xc2\xa0\"}");
}

}  // namespace
}  // namespace slipway::dcgm
