// SPDX-License-Identifier: Apache-2.0
#include "deviceplugin/devices/xid_log.hpp"

#include <gmock/gmock.h>

namespace slipway::deviceplugin {
namespace {

using std::chrono::seconds;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

struct XidLogTest : ::testing::Test {
  std::vector<std::string> texts(const std::vector<XidLog::Line>& lines) const {
    std::vector<std::string> all;
    for (const XidLog::Line& line : lines) all.push_back(std::string(line.level) + " " + line.text);
    return all;
  }
  std::vector<std::string> add(const std::string& place, unsigned number, XidEffect effect = XidEffect::none) {
    return texts(log.add(place, number, effect, now));
  }
  XidLog log;
  Moment now = Moment::clock::now();
};

// Before the fix, each XID was logged in a line of its own: a tenant's program filled the log of the node.
TEST_F(XidLogTest, LogsTheFirstAtOnceAndThenACountPerMinute) {
  EXPECT_THAT(add("GPU-0", 31), ElementsAre("info GPU-0: XID 31: ignored"));
  for (int i = 0; i < 1000; ++i) EXPECT_THAT(add("GPU-0", 31), IsEmpty());
  EXPECT_EQ(log.due(), now + seconds(60));
  now += seconds(60);
  EXPECT_THAT(texts(log.take(now)), ElementsAre("info GPU-0: XID 31, 1000 more within a minute: ignored"));
  EXPECT_THAT(add("GPU-0", 31), IsEmpty()) << "the next minute has begun";
  now += seconds(60);
  EXPECT_THAT(add("GPU-0", 31), ElementsAre("info GPU-0: XID 31, 1 more within a minute: ignored"));
}

TEST_F(XidLogTest, DistinguishesGpusInstancesAndNumbers) {
  EXPECT_THAT(add("GPU-0", 31), ElementsAre("info GPU-0: XID 31: ignored"));
  EXPECT_THAT(add("GPU-0/3", 31), ElementsAre("info GPU-0/3: XID 31: ignored"));
  EXPECT_THAT(add("GPU-1", 31), ElementsAre("info GPU-1: XID 31: ignored"));
  EXPECT_THAT(add("GPU-0", 79, XidEffect::reset), ElementsAre("warning GPU-0: XID 79"));
}

TEST_F(XidLogTest, BeginsAgainAfterAMinuteWithoutAny) {
  EXPECT_THAT(add("GPU-0", 31), ElementsAre("info GPU-0: XID 31: ignored"));
  now += seconds(60);
  EXPECT_THAT(log.take(now), IsEmpty());
  EXPECT_EQ(log.due(), Moment::max());
  EXPECT_THAT(add("GPU-0", 31), ElementsAre("info GPU-0: XID 31: ignored"));
}

}  // namespace
}  // namespace slipway::deviceplugin
