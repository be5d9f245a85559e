// SPDX-License-Identifier: Apache-2.0
// Services of the host that are stopped while GPUs change.
#include "mig/device/clients.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <slipway/json.hpp>
#include <slipway/service/unit_state.hpp>
#include <slipway/testing/fake_host.hpp>

namespace slipway::mig {
namespace {

using slipway::testing::FakeHost;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using Words = std::vector<std::string>;

constexpr const char* kRecord = "/run/slipway/mig-clients.json";

TEST(MigClients, AreReadAsNvidiasManagerReadsThem) {
  const auto read =
      clients_from_yaml("version: v1\nsystemd-services: [nvsm.service, \"dcgm.service\", nvsm.service]\n", "f");
  ASSERT_TRUE(read.ok());
  EXPECT_THAT(*read, ElementsAre("nvsm.service", "dcgm.service"));
  EXPECT_THAT(*clients_from_yaml("version: v1\n", "f"), IsEmpty());
  for (const char* wrong : {"[]", "version: v2", "version: v1\nservices: []", "systemd-services: [nvsm]",
                            "systemd-services: ['-x.service']", "systemd-services: ['a b.service']"}) {
    const auto refused = clients_from_yaml(wrong, "f");
    ASSERT_FALSE(refused.ok()) << wrong;
    EXPECT_THAT(refused.error().where, HasSubstr("f")) << wrong;
  }
}

class MigStoppedClients : public ::testing::Test {
 protected:
  MigStoppedClients() {
    host_.live("6.1.0");
    is("first.service", "active");
    is("second.service", "active");
    is("idle.service", "inactive");
  }
  void is(const std::string& unit, const std::string& state) {
    host_.answers(unit_state_command(unit), {.exit_status = 0, .output = "ActiveState=" + state + "\n"});
    for (const Words& words : {Words{"systemctl", "stop", unit}, Words{"systemctl", "--no-block", "start", unit}})
      host_.answers(words, {});
  }
  /// The units that were stopped and started, in order.
  std::vector<std::string> did() const {
    std::vector<std::string> all;
    for (const Words& each : host_.ran())
      if (each[1] != "show") all.push_back((each[1] == "stop" ? "stop " : "start ") + each.back());
    return all;
  }
  FakeHost host_;
  const Words units_{"first.service", "idle.service", "second.service"};
};

TEST_F(MigStoppedClients, StartAgainInTheOtherOrder) {
  {
    auto stopped = StoppedClients::stop(host_, units_);
    ASSERT_TRUE(stopped.ok());
    EXPECT_THAT(did(), ElementsAre("stop first.service", "stop second.service")) << "the idle one is left alone";
    EXPECT_TRUE(StoppedClients::any_left(host_));
  }
  EXPECT_THAT(did(),
              ElementsAre("stop first.service", "stop second.service", "start second.service", "start first.service"))
      << "however the change has ended";
  EXPECT_FALSE(StoppedClients::any_left(host_));
}

TEST_F(MigStoppedClients, AreStartedByTheNextChangeWhenTheirStopperWasKilled) {
  host_.file(kRecord, R"(["first.service", "second.service", 7])");
  EXPECT_TRUE(StoppedClients::any_left(host_));
  auto stopped = StoppedClients::stop(host_, {});
  ASSERT_TRUE(stopped.ok());
  EXPECT_TRUE(stopped->start().ok());
  EXPECT_THAT(did(), ElementsAre("start second.service", "start first.service"));
  EXPECT_FALSE(host_.exists(kRecord));
}

TEST_F(MigStoppedClients, StartAgainWhenOneOfThemCannotBeStopped) {
  host_.answers({"systemctl", "stop", "second.service"}, {.exit_status = 1, .output = {}, .errors = "Job timed out\n"});
  const auto stopped = StoppedClients::stop(host_, units_);
  ASSERT_FALSE(stopped.ok());
  EXPECT_THAT(stopped.error().what, HasSubstr("systemctl stop second.service failed: Job timed out"));
  EXPECT_THAT(did(),
              ElementsAre("stop first.service", "stop second.service", "start second.service", "start first.service"));
}

TEST_F(MigStoppedClients, AllStartWhereOneDoesNot) {
  host_.answers({"systemctl", "--no-block", "start", "second.service"}, {.exit_status = 1});
  auto stopped = StoppedClients::stop(host_, units_);
  ASSERT_TRUE(stopped.ok());
  EXPECT_FALSE(stopped->start().ok());
  EXPECT_EQ(did().back(), "start first.service");
}

TEST(MigClientsElsewhere, AreNotTouched) {
  const FakeHost host;  // no running machine
  EXPECT_TRUE(StoppedClients::stop(host, {"first.service"}).ok());
  EXPECT_THAT(host.ran(), IsEmpty());
}

}  // namespace
}  // namespace slipway::mig
