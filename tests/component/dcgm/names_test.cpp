// SPDX-License-Identifier: Apache-2.0
// The other names in a real Prometheus, which asks for OpenMetrics: queries and alerts as articles write them.
#include "tests/component/dcgm/dcgm_node.hpp"
#include "tests/component/dcgm/prometheus_server.hpp"

namespace slipway {
namespace {

using slipway::testing::ask;
using slipway::testing::becomes_true;
using slipway::testing::http_body;
using slipway::testing::http_get;
using slipway::testing::Page;
using slipway::testing::PrometheusServer;
using slipway::testing::Ran;
using slipway::testing::RunningService;
using slipway::testing::ScratchHost;
using ::testing::HasSubstr;

class DcgmNames : public slipway::testing::DcgmNode {
 protected:
  DcgmNames() {
    machine_ = "h100x2,driver=550.90.07";
    spec(", names: [dcgm, openmetrics, articles]");
  }
};

TEST_F(DcgmNames, AreAcceptedByPromtool) {
  RunningService service(host_, service_words());
  ASSERT_TRUE(service.hears("READY=1")) << service.log();
  host_.folder().file("page", scrape().text);
  ScratchHost shell;
  shell.program = "/bin/sh";
  const Ran checked = shell.bare({"-c", "promtool check metrics < '" + host_.folder().at("page").string() + "'"});
  EXPECT_THAT(checked.code, ::testing::AnyOf(0, 3)) << checked.err;
  for (const std::string& line : lines_of(checked.out + checked.err))
    EXPECT_THAT(line, ::testing::AnyOf("", ::testing::StartsWith("DCGM_FI_"),
                                       ::testing::StartsWith("nvidia_nvlink_bandwidth_total_bytes")))
        << "the name that articles use breaks the conventions";
}

TEST_F(DcgmNames, RunTheQueriesAndAlertsOfArticlesInPrometheus) {
  // The rules as installed, except for the time that a GPU has to be hot, which would delay the test.
  host_.folder().file("alerts.yml",
                      "groups: [{name: gpu, rules: [\n"
                      "  {alert: Hot, expr: 'nvidia_gpu_temperature_celsius > 20', for: 1s,\n"
                      "   annotations: {summary: 'GPU {{ $labels.gpu }} on {{ $labels.node }} is at {{ $value }}'}},\n"
                      "  {alert: Ecc, expr: 'increase(nvidia_gpu_ecc_errors_corrected_total[1h]) > 0',\n"
                      "   annotations: {summary: 'GPU {{ $labels.gpu }} on {{ $labels.node }} corrects errors'}}]}]\n");
  RunningService service(host_, service_words());
  ASSERT_TRUE(service.hears("READY=1")) << service.log();
  const std::uint16_t port = slipway::testing::free_port();
  const PrometheusServer server(host_, port, port_, host_.folder().at("alerts.yml").string());
  const std::vector<std::string> two{"2"};
  ASSERT_TRUE(becomes_true([&] { return ask(port, "count(nvidia_gpu_utilization)") == two; }));
  for (const char* query :
       {"count(nvidia_gpu_memory_used_bytes/nvidia_gpu_memory_total_bytes)", "count(nvidia_gpu_temperature_celsius)",
        "count(nvidia_gpu_ecc_errors_corrected_total)", "count(nvidia_nvlink_bandwidth_total_bytes)",
        "count(nvidia_gpu_power_watts)", "count(count by (gpu,node,uuid) (nvidia_gpu_utilization))",
        "count(avg by (gpu,node) (nvidia_gpu_utilization))", "count(DCGM_FI_DEV_GPU_TEMP)"})
    EXPECT_EQ(ask(port, query), two) << query;
  EXPECT_TRUE(becomes_true([&] { return ask(port, "count(rate(nvidia_nvlink_bandwidth_total_bytes[5m]))") == two; }));
  EXPECT_EQ(ask(port, "scrape_samples_scraped>10").size(), 1U);
  sim("gpu 1 ecc-corrected 3");
  const auto alerts = [&] { return http_body(port, "/api/v1/alerts"); };
  EXPECT_TRUE(becomes_true([&] { return alerts().find("GPU 1 on node-1 corrects errors") != std::string::npos; }))
      << alerts();
  EXPECT_EQ(alerts().find("GPU 0 on node-1 corrects errors"), std::string::npos);
  EXPECT_THAT(alerts(), HasSubstr("GPU 0 on node-1 is at "));
}

TEST_F(DcgmNames, AreServedAsOpenMetricsOnRequest) {
  RunningService service(host_, service_words());
  ASSERT_TRUE(service.hears("READY=1")) << service.log();
  EXPECT_THAT(http_get(port_, "/metrics"), HasSubstr("Content-Type: text/plain; version=0.0.4; charset=utf-8\r\n"));
  ScratchHost shell;
  shell.program = "/bin/sh";
  const Ran asked = shell.bare(
      {"-c", "curl -si -H 'Accept: application/openmetrics-text;version=1.0.0,text/plain;q=0.5' http://127.0.0.1:" +
                 std::to_string(port_) + "/metrics"});
  EXPECT_THAT(asked.out, HasSubstr("Content-Type: application/openmetrics-text; version=1.0.0; charset=utf-8\r\n"));
  EXPECT_THAT(asked.out,
              HasSubstr("\n# TYPE nvidia_gpu_energy_joules counter\n# UNIT nvidia_gpu_energy_joules joules\n"));
  EXPECT_TRUE(asked.out.ends_with("\n# EOF\n"));
}

TEST_F(DcgmNames, OfArticlesAreOneSeriesOfEachGpuWithMigToo) {
  machine_ = "h100x2,driver=550.90.07,mig=1g.10gb";
  spec(", names: [articles]");
  RunningService service(host_, service_words());
  ASSERT_TRUE(service.hears("READY=1")) << service.log();
  const Page page = scrape();
  EXPECT_EQ(page.count("nvidia_gpu_memory_used_bytes"), 2U) << page.text;
  EXPECT_EQ(page.count("nvidia_gpu_memory_total_bytes"), 2U);
  EXPECT_EQ(page.count("DCGM_FI_DEV_GPU_TEMP"), 0U);
}

}  // namespace
}  // namespace slipway
