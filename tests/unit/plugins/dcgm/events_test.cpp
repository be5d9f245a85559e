// SPDX-License-Identifier: Apache-2.0
// dcgm-exporter's own metrics, and the selection of devices.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "dcgm/exposition/exposition.hpp"
#include "dcgm/selection/devices.hpp"

namespace slipway::dcgm {
namespace {

using std::chrono::seconds;
using ::testing::HasSubstr;
using ::testing::Not;

class Events : public ::testing::Test {
 protected:
  /// @param reasons  the bits of GPU 0's clock reasons
  void look(seconds at, std::vector<XidEvent> xids, std::int64_t reasons) {
    sample_ = {};
    sample_.time = std::chrono::system_clock::time_point(at);
    sample_.xids = std::move(xids);
    for (unsigned i = 0; i < 2; ++i) {
      Entity entity{.gpu = {i, "GPU-" + std::to_string(i), "", "H"}};
      entity.series = {i == 0 ? reasons : std::int64_t{0}};
      sample_.entities.push_back(entity);
    }
    counts_.take(sample_, counters_);
  }
  std::string page() const { return exposition_text(sample_, counters_, {.events = &counts_}); }

  Counters counters_ = parse_counters(
                           "DCGM_EXP_XID_ERRORS_COUNT, gauge, a\nDCGM_EXP_XID_ERRORS_TOTAL, counter, b\n"
                           "DCGM_EXP_CLOCK_EVENTS_COUNT, gauge, c\nDCGM_EXP_CLOCK_EVENTS_TOTAL, x, d\n"
                           "DCGM_EXP_P2P_STATUS, gauge, e\n",
                           "c.csv")
                           .value_or({});
  EventCounts counts_{EventWindows()};
  Sample sample_;
};

const std::string kLabelsOfGpu0 = "{gpu=\"0\",UUID=\"GPU-0\",device=\"nvidia0\",modelName=\"H\"";
const std::string kOf1 = "{gpu=\"1\",UUID=\"GPU-1\",device=\"nvidia1\",modelName=\"H\"";

TEST_F(Events, AreZeroBeforeAnyHappened) {
  look(seconds(0), {}, 0);
  EXPECT_THAT(page(), HasSubstr("DCGM_EXP_XID_ERRORS_COUNT" + kLabelsOfGpu0 + ",window_size_in_ms=\"300000\"} 0\n"));
  EXPECT_THAT(page(), HasSubstr("DCGM_EXP_CLOCK_EVENTS_COUNT" + kOf1 + ",window_size_in_ms=\"300000\"} 0\n"));
  EXPECT_THAT(page(), Not(HasSubstr("DCGM_FI_DEV_CLOCKS_EVENT_REASONS"))) << "which is read, and was not asked for";
}

TEST_F(Events, AreCountedInTheirWindowAndEver) {
  look(seconds(0), {{"GPU-0", {}, 79}, {"GPU-0", {}, 79}, {"GPU-0", {}, 13}}, 0);
  const std::string window = ",window_size_in_ms=\"300000\",xid=\"79\"} ";
  EXPECT_THAT(page(), HasSubstr("DCGM_EXP_XID_ERRORS_COUNT" + kLabelsOfGpu0 + window + "2\n"));
  EXPECT_THAT(page(), HasSubstr("DCGM_EXP_XID_ERRORS_COUNT" + kOf1 + ",window_size_in_ms=\"300000\"} 0\n"));
  look(seconds(301), {}, 0);
  EXPECT_THAT(page(), Not(HasSubstr(window)));
  EXPECT_THAT(page(), HasSubstr("DCGM_EXP_XID_ERRORS_TOTAL" + kLabelsOfGpu0 + ",xid=\"79\"} 2\n"));
}

TEST_F(Events, OfClocksAreSamplesInTheWindowAndComingUpInTotal) {
  look(seconds(0), {}, 0x4);
  look(seconds(1), {}, 0x4 | 0x40);
  look(seconds(2), {}, 0x4);
  look(seconds(3), {}, 0x40);
  EXPECT_THAT(page(), HasSubstr("clock_event=\"power_cap\",window_size_in_ms=\"300000\"} 3\n"));
  EXPECT_THAT(page(), HasSubstr("DCGM_EXP_CLOCK_EVENTS_TOTAL" + kLabelsOfGpu0 + ",clock_event=\"hw_thermal\"} 2\n"));
  EXPECT_THAT(page(), Not(HasSubstr("DCGM_EXP_CLOCK_EVENTS_TOTAL" + kLabelsOfGpu0 + ",clock_event=\"power_cap\"")));
}

TEST_F(Events, OfAWholeGpuAreThoseOfItsInstances) {
  look(seconds(0), {{"GPU-0", {}, 79}, {"GPU-0", 3, 13}}, 0);
  Entity instance{.gpu = {0, "GPU-0", "", "H"}};
  instance.instance = 3;
  EXPECT_EQ(counts_.recent_xids(instance), (EventCounts::Counts{{13, 1}, {79, 1}}));
  instance.instance = 4;
  EXPECT_EQ(counts_.recent_xids(instance), (EventCounts::Counts{{79, 1}}));
}

TEST_F(Events, HavePeersByTheirStatus) {
  look(seconds(0), {}, 0);
  sample_.peers = {{0, 1, 0}, {1, 0, 3}};
  EXPECT_THAT(page(), HasSubstr("DCGM_EXP_P2P_STATUS" + kLabelsOfGpu0 + ",link_status=\"OK\",peer_gpu=\"1\"} 0\n"));
  EXPECT_THAT(page(), HasSubstr("link_status=\"TopologyNotSupported\",peer_gpu=\"0\"} 3\n"));
}

TEST(Devices, AreSelectedInDcgmExportersForms) {
  const auto select = [](const std::string& text) { return parse_devices(text, "devices"); };
  EXPECT_TRUE(select("f").value().has_gpu(7));
  EXPECT_TRUE(select("f").value().has_instance(7, 1));
  EXPECT_TRUE(select("g").value().has_gpu(7));
  EXPECT_FALSE(select("g").value().has_instance(0, 0));
  EXPECT_EQ(select("g:0,2-4").value().numbers, (std::set<unsigned>{0, 2, 3, 4}));
  EXPECT_FALSE(select("g:0,2-4").value().has_gpu(1));
  EXPECT_TRUE(select("i:9").value().has_instance(1, 1));
  EXPECT_FALSE(select("i:9").value().has_instance(1, 0));
  EXPECT_FALSE(select("i").value().has_gpu(0));
  for (const char* text :
       {"", "x", "f:0", "g:", "g:1,", "g:3-1", "g:-1", "g:1024", "g+i", "g:0 ", "i:a", "g:99999999999"})
    EXPECT_FALSE(select(text).ok()) << text;
}

}  // namespace
}  // namespace slipway::dcgm
