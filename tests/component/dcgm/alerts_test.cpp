// SPDX-License-Identifier: Apache-2.0
// The alerts and the dashboard, checked by Prometheus' own tools and a real Prometheus.
#include <fstream>
#include <sstream>

#include "nvidia/health/rules.hpp"
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

const std::string kAlerts = std::string(SLIPWAY_ALERTS_FOLDER) + "/gpu-alerts.yaml";

std::string text_of(const std::string& path) {
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

std::string with(std::string text, const std::string& what, const std::string& other) {
  for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + other.size()))
    text.replace(at, what.size(), other);
  return text;
}

Ran promtool(const std::vector<std::string>& words) {
  ScratchHost shell;
  shell.program = "/usr/bin/promtool";
  return shell.bare(words);
}

TEST(AlertRules, ArePassedByPromtool) {
  const Ran ran = promtool({"check", "rules", kAlerts});
  EXPECT_EQ(ran.code, 0) << ran.out << ran.err;
}

TEST(AlertRules, FireAsTheirTestsSayWithGpuAndNodeNamed) {
  ScratchHost folder;
  const std::string tests = text_of(SLIPWAY_ALERT_TESTS);
  ASSERT_THAT(tests, HasSubstr("GPU 3 of node-1"));
  folder.folder().file("test.yaml", with(tests, "- GPU_ALERTS\n", "- " + kAlerts + "\n"));
  const Ran ran = promtool({"test", "rules", folder.folder().at("test.yaml").string()});
  EXPECT_EQ(ran.code, 0) << ran.out << ran.err;
}

TEST(AlertRules, HaveOneTestEach) {
  const std::string tests = text_of(SLIPWAY_ALERT_TESTS);
  const std::string mark = "- alert: ";
  std::size_t alerts = 0;
  for (const std::string& line : lines_of(text_of(kAlerts))) {
    const std::size_t at = line.find(mark);
    if (at == std::string::npos) continue;
    ++alerts;
    EXPECT_THAT(tests, HasSubstr("alertname: " + line.substr(at + mark.size()) + "\n"));
  }
  EXPECT_GT(alerts, 20U);
}

TEST(AlertRules, NameTheXidsThatAreFatalByTheHealthRules) {
  std::string fatal;
  for (const auto& [number, rule] : nvidia::health::default_rules().xids())
    if (rule.severity == nvidia::health::Severity::fatal) fatal += (fatal.empty() ? "" : "|") + std::to_string(number);
  EXPECT_THAT(text_of(kAlerts), HasSubstr("err_code=~\"" + fatal + "\""));
}

using Dashboard = DcgmNode;

TEST_F(Dashboard, HasSeriesInEveryPanel) {
  const Json board = Json::parse(text_of(std::string(SLIPWAY_ALERTS_FOLDER) + "/gpu-dashboard.json"), nullptr, false);
  ASSERT_TRUE(board.is_object());
  RunningService service(host_, service_words());
  ASSERT_TRUE(service.hears("READY=1")) << service.log();
  sim("gpu 0 xid 79");  // for the panel of GPU faults
  const std::uint16_t port = slipway::testing::free_port();
  const PrometheusServer server(host_, port, port_);
  std::size_t asked = 0;
  for (const Json& panel : board["panels"])
    for (const Json& target : panel["targets"]) {
      std::string query = with(target["expr"], "$__rate_interval", "5s");
      query = with(with(query, "$node", ".*"), "$gpu", ".*");
      EXPECT_TRUE(becomes_true([&] { return !ask(port, query).empty(); })) << panel["title"] << ": " << query;
      ++asked;
    }
  EXPECT_GT(asked, 20U);
}

}  // namespace
}  // namespace slipway
