// SPDX-License-Identifier: Apache-2.0
// The health of simulated GPUs in the answer to a scrape: XIDs from NVML and from the kernel's log, and a site's rules.
#include <fstream>

#include "tests/component/dcgm/dcgm_node.hpp"

namespace slipway {
namespace {

using slipway::testing::Control;
using slipway::testing::DcgmNode;
using slipway::testing::eventually;
using slipway::testing::Page;
using slipway::testing::RunningService;
using ::testing::HasSubstr;

class DcgmHealth : public DcgmNode {
 protected:
  static bool has_reason(const Page& page, const std::string& part) {
    for (const std::string& line : page.of("slipway_dcgm_gpu_health_reason"))
      if (line.find(part) != std::string::npos) return true;
    return false;
  }
  void kernel_says(const std::string& line) const {
    std::filesystem::create_directories(host_.path("dev"));
    std::ofstream(host_.path("dev/kmsg"), std::ios::app) << "4,1,1,-;" << line << "\n";
  }
};

TEST_F(DcgmHealth, ReportsAnXidWithItsReasonExceptApplicationErrors) {
  RunningService service(host_, service_words());
  ASSERT_TRUE(service.hears("READY=1")) << service.log();
  ASSERT_TRUE(page_gets([](const Page& page) { return page.count("slipway_dcgm_gpu_healthy") == 8; }));
  EXPECT_EQ(scrape().count("slipway_dcgm_gpu_health_reason"), 0U);
  sim("gpu 2 xid 31");
  sim("gpu 3 xid 79");
  ASSERT_TRUE(page_gets([](const Page& page) { return has_reason(page, "xid-79"); })) << scrape().text;
  const Page page = scrape();
  EXPECT_EQ(page.value("slipway_dcgm_gpu_healthy", "gpu=\"3\""), "0");
  EXPECT_EQ(page.value("slipway_dcgm_gpu_healthy", "gpu=\"2\""), "1");
  EXPECT_THAT(page.of("slipway_dcgm_gpu_health_reason").front(),
              HasSubstr("reason=\"xid-79\",severity=\"fatal\",scope=\"node\"} 1"));
  EXPECT_THAT(health(), HasSubstr("200 OK")) << "one GPU does not make the service unwell";
}

// Before the fix, NVML's events were visible in the metrics only.
TEST_F(DcgmHealth, IsReportedByDoctor) {
  const auto doctor = [this] { return host_.slipway(words({"doctor"})).out; };
  EXPECT_THAT(doctor(), HasSubstr("not-exercised  dcgm.health"));
  RunningService service(host_, service_words());
  ASSERT_TRUE(service.hears("READY=1")) << service.log();
  ASSERT_TRUE(has_gpus(8));
  EXPECT_THAT(doctor(), ::testing::Not(HasSubstr("fail  dcgm.health")));
  const auto file = host_.path("run/slipway/health.json");
  ASSERT_TRUE(eventually([&] { return std::filesystem::exists(file); }));
  sim("gpu 3 xid 48");
  ASSERT_TRUE(page_gets([](const Page& page) { return has_reason(page, "xid-48"); })) << scrape().text;
  const std::string sick = doctor();
  EXPECT_THAT(sick, HasSubstr("fail  dcgm.health: GPU 3 (0000:5d:00.0): XID 48"));
  EXPECT_THAT(sick, HasSubstr("XID 48"));
  std::filesystem::create_directories(host_.path("etc/slipway"));
  std::ofstream(host_.path("etc/slipway/health-rules.yaml")) << "xids: {31: {severity: fatal}}\n";
  EXPECT_THAT(doctor(),
              HasSubstr("leads to dcgm.health-rules: /etc/slipway/health-rules.yaml:1:1: the file has no version"));
}

TEST_F(DcgmHealth, IsReportedLikeDcgmExporter) {
  host_.put("etc/c.csv", "DCGM_EXP_GPU_HEALTH_STATUS, gauge, h\n");
  spec(", collectors: /etc/c.csv");
  RunningService service(host_, service_words());
  ASSERT_TRUE(service.hears("READY=1")) << service.log();
  ASSERT_TRUE(page_gets([](const Page& page) { return page.count("DCGM_EXP_GPU_HEALTH_STATUS") == 88; }))
      << scrape().text;
  sim("gpu 3 xid 79");
  sim("gpu 3 lost");
  const std::string lost = "gpu=\"3\"";
  EXPECT_TRUE(page_gets([&](const Page& page) {
    for (const std::string& line : page.of("DCGM_EXP_GPU_HEALTH_STATUS"))
      if (line.find(lost) != std::string::npos && line.ends_with("health_watch=\"ALL\"} 20") &&
          line.find("DCGM_FR_FALLEN_OFF_BUS") != std::string::npos)
        return true;
    return false;
  })) << scrape().text;
  EXPECT_EQ(scrape().count("DCGM_EXP_GPU_HEALTH_STATUS"), 88U);
  // Before the fix, the status said that all GPUs were sampled, because the reason was known before the GPU became
  // unreadable.
  const Control control(host_.path("run/slipway/service/dcgm.sock").string());
  EXPECT_TRUE(eventually([&] { return control.ask(R"({"op":"status"})")["status"] == "7 of 8 GPUs are sampled"; }))
      << control.ask(R"({"op":"status"})").dump();
}

TEST_F(DcgmHealth, ReportsAnXidOfTheKernelsLogWithoutADriver) {
  kernel_says("NVRM: Xid (PCI:0000:19:00): 48, of before the service");
  RunningService service(host_, service_words());
  ASSERT_TRUE(service.hears("READY=1")) << service.log();
  ASSERT_TRUE(has_gpus(8));
  sim("driver unloaded");
  ASSERT_TRUE(page_gets([](const Page& page) { return page.value("slipway_dcgm_driver_up") == "0"; }));
  const std::string bus = scrape().of("slipway_dcgm_gpu_up").front();
  const std::string address = bus.substr(bus.find("pci_bus_id=\"") + 16, 10);  // 00000000:1b:00.0 without its ends
  kernel_says("NVRM: Xid (PCI:" + address + "): 119, GSP does not answer");
  EXPECT_TRUE(page_gets([](const Page& page) { return has_reason(page, "xid-119"); })) << address << scrape().text;
  EXPECT_FALSE(has_reason(scrape(), "xid-48"));
}

TEST_F(DcgmHealth, FollowsASitesRulesAndExplainsErrorsOfThem) {
  RunningService service(host_, service_words());
  ASSERT_TRUE(service.hears("READY=1")) << service.log();
  std::filesystem::create_directories(host_.path("etc/slipway"));
  std::ofstream(host_.path("etc/slipway/health-rules.yaml")) << "version: v1\nxids: {31: {severity: fatal}}\n";
  ASSERT_TRUE(eventually([&] { return service.log().find("changed health rules") != std::string::npos; }))
      << service.log();
  sim("gpu 2 xid 31");
  EXPECT_TRUE(page_gets([](const Page& page) { return has_reason(page, "xid-31"); })) << service.log();
  // Correcting a rule removes its findings.
  std::ofstream(host_.path("etc/slipway/health-rules.yaml")) << "version: v1\n";
  EXPECT_TRUE(page_gets([](const Page& page) { return !has_reason(page, "xid-31"); })) << service.log();
  std::ofstream(host_.path("etc/slipway/health-rules.yaml")) << "version: v1\nxids: {31: {severty: fatal}}\n";
  EXPECT_TRUE(eventually([&] {
    return service.log().find("health-rules.yaml:2:13: unknown key 'severty'") != std::string::npos;
  })) << service.log();
}

// Before the fix, the log had only the UUID and the number.
TEST_F(DcgmHealth, IsLoggedWithTheGpuTheMeaningAndTheRemedy) {
  RunningService service(host_, service_words());
  ASSERT_TRUE(service.hears("READY=1")) << service.log();
  ASSERT_TRUE(has_gpus(8));
  sim("gpu 3 xid 79");
  ASSERT_TRUE(page_gets([](const Page& page) { return has_reason(page, "xid-79"); })) << scrape().text;
  EXPECT_TRUE(eventually([&] {
    return ::testing::Value(service.log(),
                            ::testing::ContainsRegex("GPU 3 \\([0-9a-f:.]+\\): XID 79: [^\n]+ \\([^\n]+\\)"));
  })) << service.log();
  service.signal(SIGTERM);
  EXPECT_EQ(service.exit_code(), 0) << service.log();
  EXPECT_THAT(host_.slipway(words({"doctor"})).out, HasSubstr("not-exercised  dcgm.health"))
      << "nobody watches the GPUs any more";
  RunningService again(host_, service_words());
  EXPECT_TRUE(page_gets([](const Page& page) { return has_reason(page, "xid-79"); })) << "a restart forgets nothing";
}

// Before the fix, no command showed which XIDs a preset leaves out.
TEST_F(DcgmHealth, RulesShowWhichXidsAPresetCounts) {
  const auto rules = [this](std::vector<std::string> words) {
    words.insert(words.begin(), {"dcgm", "health-rules"});
    return host_.bare(words);
  };
  host_.folder().file("rules.yaml",
                      "version: v1\npreset: ours\npresets: {ours: {what: those of our own, xids: [79]}}\n");
  const std::string file = host_.folder().at("rules.yaml").string();
  const auto table = rules({"--rules", file});
  EXPECT_THAT(table.out, ::testing::ContainsRegex("\n79 +yes +")) << table.err;
  EXPECT_THAT(table.out, ::testing::ContainsRegex("\n119 +no +"));
  const auto json = Json::parse(rules({"--rules", file, "-o", "json"}).out, nullptr, false);
  ASSERT_TRUE(json.is_object());
  EXPECT_EQ(json["kind"], "HealthRules");
  EXPECT_EQ(json["xids"]["79"]["counts"], true);
  EXPECT_EQ(json["xids"]["119"]["counts"], false);
  EXPECT_EQ(rules({"-o", "xml"}).code, 64);
  EXPECT_EQ(rules({"-o", "json", "--markdown"}).code, 64);
  host_.folder().file("rules.yaml", "version: v1\nxids: {31: {action: restart-jobb}}\n");
  EXPECT_THAT(rules({"--rules", file}).err, HasSubstr("did you mean"));
  EXPECT_THAT(rules({"--rules", "/etc/nosuch.yaml"}).err, HasSubstr("do: "));
}

}  // namespace
}  // namespace slipway
