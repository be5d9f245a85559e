// SPDX-License-Identifier: Apache-2.0
// SIGHUP (`systemctl reload`) with a mistake in the spec or in a file that it names: the service goes on with the
// former content.
#include "tests/component/dcgm/dcgm_node.hpp"

namespace slipway {
namespace {

using slipway::testing::Control;
using slipway::testing::DcgmNode;
using slipway::testing::eventually;
using slipway::testing::Page;
using slipway::testing::RunningService;
using ::testing::HasSubstr;

class DcgmReload : public DcgmNode {
 protected:
  /// Sends SIGHUP and waits until the log has the text.
  static bool reload_says(const RunningService& service, const std::string& text) {
    service.signal(SIGHUP);
    return eventually([&] { return service.log().find(text) != std::string::npos; });
  }
  std::string reasons() const {
    const Control control(host_.path("run/slipway/service/dcgm.sock").string());
    return control.ask(R"({"op":"status"})")["reasons"].dump();
  }
  bool tells(const std::string& metric) const {
    return page_gets([&](const Page& page) { return page.count(metric) == 8; });
  }
};

// Before the fix, the service ended.
TEST_F(DcgmReload, WithAnInvalidConfigFileKeepsTheFormerSettings) {
  host_.put("etc/config.yaml", "version: 1\nmetrics: {file: /etc/c.csv}\n");
  host_.put("etc/c.csv", "DCGM_FI_DEV_GPU_TEMP, gauge, a\n");
  spec(", config_file: /etc/config.yaml");
  RunningService service(host_, service_words());
  ASSERT_TRUE(service.hears("READY=1")) << service.log();
  ASSERT_TRUE(tells("DCGM_FI_DEV_GPU_TEMP")) << service.log();
  host_.put("etc/config.yaml", "version: 9\nmetrics: {file: /etc/c.csv}\n");
  ASSERT_TRUE(reload_says(service, "the previous content of /etc/config.yaml stays in use: ")) << service.log();
  EXPECT_TRUE(tells("DCGM_FI_DEV_GPU_TEMP")) << service.log();
  EXPECT_TRUE(eventually([&] { return reasons().find("stays in use") != std::string::npos; })) << reasons();
  host_.put("etc/config.yaml", "version: 1\nmetrics: {file: /etc/d.csv}\n");
  host_.put("etc/d.csv", "DCGM_FI_DEV_SM_CLOCK, gauge, a\n");
  service.signal(SIGHUP);
  EXPECT_TRUE(tells("DCGM_FI_DEV_SM_CLOCK")) << service.log();
  EXPECT_TRUE(eventually([&] { return reasons() == "[]"; })) << reasons();
  service.signal(SIGTERM);
  EXPECT_EQ(service.exit_code(), 0) << service.log();
}

// Before the fix, the service continued without GPU metrics.
TEST_F(DcgmReload, WithAFileOfCountersThatIsMissingIsRefused) {
  host_.put("etc/c.csv", "DCGM_FI_DEV_GPU_TEMP, gauge, a\n");
  spec(", collectors: /etc/c.csv");
  RunningService service(host_, service_words());
  ASSERT_TRUE(service.hears("READY=1")) << service.log();
  spec(", collectors: /etc/nosuch.csv");
  ASSERT_TRUE(reload_says(service, "the new spec is refused, the service keeps the previous one")) << service.log();
  EXPECT_TRUE(tells("DCGM_FI_DEV_GPU_TEMP")) << service.log();
  EXPECT_THAT(reasons(), HasSubstr("/etc/nosuch.csv is missing"));
  EXPECT_THAT(reasons(), HasSubstr("spec.components.dcgm.collectors"));
}

TEST_F(DcgmReload, WithANewlyInvalidFileOfCountersKeepsTheFormerCounters) {
  host_.put("etc/c.csv", "DCGM_FI_DEV_GPU_TEMP, gauge, a\n");
  spec(", collectors: /etc/c.csv");
  RunningService service(host_, service_words());
  ASSERT_TRUE(service.hears("READY=1")) << service.log();
  ASSERT_TRUE(tells("DCGM_FI_DEV_GPU_TEMP")) << service.log();
  host_.put("etc/c.csv", "FOO, gauge, a\n");
  ASSERT_TRUE(reload_says(service, "starting again with the new spec")) << service.log();
  ASSERT_TRUE(eventually([&] { return service.told().rfind("READY=1") > service.told().rfind("RELOADING=1"); }));
  EXPECT_TRUE(tells("DCGM_FI_DEV_GPU_TEMP")) << service.log();
  EXPECT_TRUE(eventually([&] { return reasons().find("DCGM has no field 'FOO'") != std::string::npos; })) << reasons();
}

// Before the fix, scrapes failed afterwards.
TEST_F(DcgmReload, WithAWebConfigOrHealthRulesThatAreInvalidIsRefused) {
  host_.put("etc/web.yaml", "tls_server_confg: {}\n");
  RunningService service(host_, service_words());
  ASSERT_TRUE(service.hears("READY=1")) << service.log();
  spec(", web_config_file: /etc/web.yaml");
  ASSERT_TRUE(reload_says(service, "the service keeps the previous one: unknown key 'tls_server_confg'"))
      << service.log();
  EXPECT_TRUE(has_gpus(8)) << service.log();
  spec(", health_rules: /etc/nosuch.yaml");
  ASSERT_TRUE(reload_says(service, "nosuch.yaml")) << service.log();
  EXPECT_TRUE(has_gpus(8)) << service.log();
  EXPECT_THAT(reasons(), HasSubstr("the new spec is refused"));
}

// Before the fix, the driver was reported as down, which triggers an alert, although only the file of counters was
// broken.
TEST_F(DcgmReload, IsNotNeededToReportADriverWithAnInvalidFileOfCounters) {
  host_.put("etc/c.csv", "FOO, gauge, a\n");
  spec(", collectors: /etc/c.csv");
  RunningService service(host_, service_words());
  ASSERT_TRUE(service.hears("READY=1")) << service.log();
  const Page page = scrape();
  EXPECT_EQ(page.value("slipway_dcgm_driver_up"), "1") << page.text;
  EXPECT_EQ(page.count("slipway_dcgm_gpu_up"), 8U);
  EXPECT_THAT(health(), HasSubstr(" 503 "));
  EXPECT_THAT(health(), HasSubstr("there are no metrics of GPUs: /etc/c.csv:1: DCGM has no field 'FOO'"));
  host_.put("etc/c.csv", "DCGM_FI_DEV_GPU_TEMP, gauge, a\n");
  EXPECT_TRUE(has_gpus(8)) << service.log();
  EXPECT_THAT(health(), HasSubstr(" 200 OK"));
}

}  // namespace
}  // namespace slipway
