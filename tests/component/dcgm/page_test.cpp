// SPDX-License-Identifier: Apache-2.0
// The page about the GPUs, as the service gives it to browsers and to `slipway top`.
#include "tests/component/dcgm/dcgm_node.hpp"

namespace slipway {
namespace {

using slipway::testing::Control;
using slipway::testing::DcgmNode;
using slipway::testing::eventually;
using slipway::testing::http_body;
using slipway::testing::http_get;
using slipway::testing::RunningService;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

class DcgmPage : public DcgmNode {
 protected:
  std::string page() const { return http_body(port_, "/"); }
  Json overview() const { return Json::parse(http_body(port_, "/overview.json"), nullptr, false); }
  template <class Condition>
  bool overview_comes_to(const Condition& holds) const {
    return eventually([&] {
      const Json now = overview();
      return now.is_object() && holds(now);
    });
  }
};

TEST_F(DcgmPage, HasAStrictContentSecurityPolicy) {
  RunningService service(host_, service_words());
  ASSERT_TRUE(service.hears("READY=1")) << service.log();
  const std::string answer = http_get(port_, "/");
  const std::string headers = answer.substr(0, answer.find("\r\n\r\n"));
  EXPECT_THAT(headers,
              AllOf(HasSubstr(" 200 OK"), HasSubstr("Content-Type: text/html; charset=utf-8"),
                    HasSubstr("Content-Security-Policy: default-src 'none'; script-src 'sha256-"),
                    HasSubstr("X-Content-Type-Options: nosniff"), HasSubstr("Cache-Control: no-store"),
                    HasSubstr("Referrer-Policy: no-referrer"), HasSubstr("Cross-Origin-Resource-Policy: same-origin")));
  const std::string page = answer.substr(answer.find("\r\n\r\n") + 4);
  for (const char* shown :
       {"GPUs of <bdi>node-1</bdi>", "8 x NVIDIA H100 80GB HBM3", "driver 550.90.07", ">GPU 7</h2>"})
    EXPECT_THAT(page, HasSubstr(shown));
  const std::string json = http_get(port_, "/overview.json");
  EXPECT_THAT(json, AllOf(HasSubstr("Content-Type: application/json"),
                          HasSubstr("Content-Security-Policy: default-src 'none'; frame-ancestors 'none'")));
  EXPECT_EQ(overview()["gpus"].size(), 8U);
  EXPECT_THAT(http_get(port_, "/nothing"), HasSubstr(" 404 "));
}

TEST_F(DcgmPage, ShowsLoadProcessesAndXids) {
  RunningService service(host_, service_words());
  ASSERT_TRUE(service.hears("READY=1")) << service.log();
  sim("gpu 2 load 90");
  sim("process add 2 4711 2048 compute <b>x");
  sim("gpu 5 xid 79");
  ASSERT_TRUE(overview_comes_to([](const Json& now) {
    return now["gpus"][2]["values"]["processes"].size() == 1 && now["gpus"][5]["health"] != "ok" &&
           now["gpus"][2]["values"]["utilizationPercent"] == 90;
  })) << overview().dump(1);
  const Json gpu = overview()["gpus"][2];
  EXPECT_EQ(gpu["values"]["processes"][0]["pid"], 4711);
  EXPECT_EQ(gpu["values"]["processes"][0]["memoryBytes"], std::uint64_t{2} << 30U);
  EXPECT_EQ(gpu["health"], "ok");
  EXPECT_EQ(gpu["lastTenMinutes"].size(), 120U);
  EXPECT_THAT(page(), AllOf(HasSubstr("&lt;b&gt;x"), Not(HasSubstr("<b>")), HasSubstr("XID 79")));
  EXPECT_THAT(scrape().text, Not(HasSubstr("4711"))) << "metrics hold no processes";
}

// NVML reads the name from the process' memory, and the process can block that: before the fix, the GPU then
// disappeared from the metrics.
TEST_F(DcgmPage, TakesTheNamesOfProcessesFromTheKernel) {
  RunningService service(host_, service_words());
  ASSERT_TRUE(service.hears("READY=1")) << service.log();
  host_.put("proc/4711/comm", "trainer\n");
  sim("function nvmlSystemGetProcessName hang on");
  sim("process add 2 4711 2048 compute /usr/bin/python3");
  ASSERT_TRUE(overview_comes_to([](const Json& now) {
    const Json processes = now["gpus"][2]["values"]["processes"];
    return processes.size() == 1 && processes[0]["name"] == "trainer";
  })) << overview().dump(1);
  EXPECT_EQ(overview()["gpus"][2]["health"], "ok");
}

TEST_F(DcgmPage, DrawsGpuInstancesWithTheirMemory) {
  machine_ = "h100x2,driver=550.90.07,mig=1g.10gb";
  RunningService service(host_, service_words());
  ASSERT_TRUE(service.hears("READY=1")) << service.log();
  const Json mig = overview()["gpus"][1]["values"]["mig"];
  EXPECT_EQ(mig["enabled"], true);
  EXPECT_EQ(mig["slices"], 8);
  ASSERT_EQ(mig["instances"].size(), 7U);
  EXPECT_EQ(mig["instances"][3]["profile"], "1g.10gb");
  EXPECT_GT(mig["instances"][3]["memoryTotalBytes"], std::uint64_t{9} << 30U);
  EXPECT_TRUE(mig["instances"][3]["activePercent"].is_number()) << mig.dump();
  EXPECT_THAT(page(), HasSubstr("GPU instances on memory slices: 1g.10gb at 0, 1g.10gb at 1"));
}

TEST_F(DcgmPage, ReportsAMissingDriver) {
  RunningService service(host_, service_words());
  ASSERT_TRUE(service.hears("READY=1")) << service.log();
  sim("gpu 3 lost");
  ASSERT_TRUE(overview_comes_to([](const Json& now) { return now["gpus"][3]["health"] == "bad"; }));
  EXPECT_TRUE(overview()["gpus"][3]["values"].is_null());
  EXPECT_EQ(overview()["gpus"][4]["health"], "ok");
  sim("driver unloaded");
  ASSERT_TRUE(overview_comes_to([](const Json& now) { return !now["problem"].get<std::string>().empty(); }));
  EXPECT_THAT(page(), HasSubstr("The GPUs cannot be read: "));
  sim("gpu 3 found");
  sim("driver 550.90.07");
  ASSERT_TRUE(overview_comes_to([](const Json& now) { return now["gpus"][3]["values"].is_object(); }))
      << overview().dump(1);
  service.signal(SIGTERM);
  EXPECT_EQ(service.exit_code(), 0) << service.log();
}

TEST_F(DcgmPage, ReportsThatTheDriverIsReleased) {
  RunningService service(host_, service_words());
  ASSERT_TRUE(service.hears("READY=1")) << service.log();
  {
    const Control control(host_.path("run/slipway/service/dcgm.sock").string());
    ASSERT_TRUE(control.connected());
    control.ask("{\"op\":\"quiesce\"}");
    EXPECT_THAT(page(), HasSubstr("another program needs the driver"));
    EXPECT_TRUE(overview()["gpus"][0]["values"].is_null());
  }
  EXPECT_TRUE(overview_comes_to([](const Json& now) { return now["gpus"][0]["values"].is_object(); })) << service.log();
}

TEST_F(DcgmPage, AsksNoGpuWhenItIsLookedAt) {
  interval_ = "1h";
  spec("");
  RunningService service(host_, service_words());
  ASSERT_TRUE(service.hears("READY=1")) << service.log();
  const std::string calls = sim("calls").out;
  const std::string first = page();
  for (int i = 0; i < 20; ++i) EXPECT_EQ(page(), first);
  EXPECT_EQ(overview()["intervalMilliseconds"], 3600000);
  EXPECT_EQ(sim("calls").out, calls);
}

TEST_F(DcgmPage, IsMissingWhenItIsDisabled) {
  spec(", page: false");
  RunningService service(host_, service_words());
  ASSERT_TRUE(service.hears("READY=1")) << service.log();
  for (const char* path : {"/", "/overview.json"}) EXPECT_THAT(http_get(port_, path), HasSubstr(" 404 "));
  EXPECT_THAT(http_get(port_, "/metrics"), HasSubstr(" 200 OK"));
}

TEST_F(DcgmPage, ShowsProcessesOnlyToThisMachineByDefault) {
  const std::string everywhere =
      "    dcgm: {listen: \":" + std::to_string(port_) + "\", interval: 100ms, page_processes: ";
  for (const auto& [word, shown] :
       std::initializer_list<std::pair<std::string, bool>>{{"local", false}, {"never", false}, {"always", true}}) {
    host_.spec(everywhere + word + "}\n");
    RunningService service(host_, service_words());
    ASSERT_TRUE(service.hears("READY=1")) << service.log();
    sim("process add 0 4711 2048");
    ASSERT_TRUE(overview_comes_to([](const Json& now) {
      return now["gpus"][0]["values"]["memoryUsedBytes"].get<std::uint64_t>() > 0 && now["gpus"].size() == 8;
    }));
    EXPECT_EQ(overview()["showsProcesses"], shown) << word;
    service.signal(SIGTERM);
    EXPECT_EQ(service.exit_code(), 0) << service.log();
  }
}

}  // namespace
}  // namespace slipway
