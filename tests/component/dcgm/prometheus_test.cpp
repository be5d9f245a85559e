// SPDX-License-Identifier: Apache-2.0
// The page in Prometheus itself: its checker, and a server that scrapes.
#include "tests/component/dcgm/dcgm_node.hpp"
#include "tests/component/dcgm/prometheus_server.hpp"

namespace slipway {
namespace {

using slipway::testing::ask;
using slipway::testing::becomes_true;
using slipway::testing::DcgmNode;
using slipway::testing::PrometheusServer;
using slipway::testing::Ran;
using slipway::testing::RunningService;
using slipway::testing::ScratchHost;
using ::testing::HasSubstr;

using Prometheus = DcgmNode;

// The names of dcgm-exporter violate Prometheus' naming conventions; no other problem is allowed.
TEST_F(Prometheus, AcceptsTheScrapedMetrics) {
  RunningService service(host_, service_words());
  ASSERT_TRUE(service.hears("READY=1")) << service.log();
  const std::string page = scrape().text;
  host_.folder().file("page", page);
  ScratchHost shell;
  shell.program = "/bin/sh";
  const Ran checked = shell.bare({"-c", "promtool check metrics < '" + host_.folder().at("page").string() + "'"});
  EXPECT_THAT(checked.code, ::testing::AnyOf(0, 3)) << checked.err << page;
  for (const std::string& line : lines_of(checked.out + checked.err))
    EXPECT_THAT(line, ::testing::AnyOf("", ::testing::StartsWith("DCGM_FI_"))) << "of slipway's own";
}

TEST_F(Prometheus, SeesTheGpusAndAnOutageOfTheDriver) {
  RunningService service(host_, service_words());
  ASSERT_TRUE(service.hears("READY=1")) << service.log();
  const std::uint16_t port = slipway::testing::free_port();
  const PrometheusServer server(host_, port, port_);
  const std::vector<std::string> eight{"8"};
  ASSERT_TRUE(becomes_true([&] { return ask(port, "count(DCGM_FI_DEV_GPU_TEMP)") == eight; }))
      << host_.folder().at("prometheus.log");
  EXPECT_EQ(ask(port, "up"), std::vector<std::string>{"1"});
  sim("driver unloaded");
  EXPECT_TRUE(becomes_true([&] { return ask(port, "slipway_dcgm_driver_up") == std::vector<std::string>{"0"}; }));
  EXPECT_TRUE(becomes_true([&] { return ask(port, "DCGM_FI_DEV_GPU_TEMP").empty(); }));
  EXPECT_EQ(ask(port, "up"), std::vector<std::string>{"1"}) << "the exporter answers all the while";
  sim("driver loaded");
  EXPECT_TRUE(becomes_true([&] { return ask(port, "count(DCGM_FI_DEV_GPU_TEMP)") == eight; }));
  EXPECT_EQ(ask(port, "slipway_dcgm_driver_outages_total"), std::vector<std::string>{"1"});
}

}  // namespace
}  // namespace slipway
