// SPDX-License-Identifier: Apache-2.0
#include <set>

#include "tests/component/dcgm/dcgm_node.hpp"

namespace slipway {
namespace {

using slipway::testing::Control;
using slipway::testing::DcgmNode;
using slipway::testing::eventually;
using slipway::testing::Page;
using slipway::testing::Ran;
using slipway::testing::RunningService;
using ::testing::ContainsRegex;
using ::testing::HasSubstr;

using DcgmService = DcgmNode;

/// The metrics of dcgm-exporter's default-counters.csv.
const std::vector<std::pair<std::string, std::string>> kDefault{{"DCGM_FI_DEV_SM_CLOCK", "gauge"},
                                                                {"DCGM_FI_DEV_MEM_CLOCK", "gauge"},
                                                                {"DCGM_FI_DEV_MEMORY_TEMP", "gauge"},
                                                                {"DCGM_FI_DEV_GPU_TEMP", "gauge"},
                                                                {"DCGM_FI_DEV_POWER_USAGE", "gauge"},
                                                                {"DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION", "counter"},
                                                                {"DCGM_FI_DEV_PCIE_REPLAY_COUNTER", "counter"},
                                                                {"DCGM_FI_DEV_GPU_UTIL", "gauge"},
                                                                {"DCGM_FI_DEV_MEM_COPY_UTIL", "gauge"},
                                                                {"DCGM_FI_DEV_ENC_UTIL", "gauge"},
                                                                {"DCGM_FI_DEV_DEC_UTIL", "gauge"},
                                                                {"DCGM_FI_DEV_XID_ERRORS", "gauge"},
                                                                {"DCGM_FI_DEV_FB_FREE", "gauge"},
                                                                {"DCGM_FI_DEV_FB_USED", "gauge"},
                                                                {"DCGM_FI_DEV_FB_RESERVED", "gauge"},
                                                                {"DCGM_FI_DEV_NVLINK_BANDWIDTH_TOTAL", "gauge"},
                                                                {"DCGM_FI_DEV_VGPU_LICENSE_STATUS", "gauge"},
                                                                {"DCGM_FI_DEV_UNCORRECTABLE_REMAPPED_ROWS", "counter"},
                                                                {"DCGM_FI_DEV_CORRECTABLE_REMAPPED_ROWS", "counter"},
                                                                {"DCGM_FI_DEV_ROW_REMAP_FAILURE", "gauge"},
                                                                {"DCGM_FI_PROF_GR_ENGINE_ACTIVE", "gauge"},
                                                                {"DCGM_FI_PROF_PIPE_TENSOR_ACTIVE", "gauge"},
                                                                {"DCGM_FI_PROF_DRAM_ACTIVE", "gauge"},
                                                                {"DCGM_FI_PROF_PCIE_TX_BYTES", "gauge"},
                                                                {"DCGM_FI_PROF_PCIE_RX_BYTES", "gauge"}};

TEST_F(DcgmService, AnswersAScrapeWithEveryDefaultSeriesOfEachGpu) {
  RunningService service(host_, service_words());
  ASSERT_TRUE(service.hears("READY=1")) << service.log();
  const Page page = scrape();
  for (const auto& [name, type] : kDefault) {
    EXPECT_EQ(page.count(name), 8U) << name;
    EXPECT_THAT(page.text, HasSubstr("\n# TYPE " + name + " " + type + "\n")) << name;
  }
  EXPECT_THAT(page.text, HasSubstr("\n# HELP DCGM_FI_DEV_GPU_TEMP GPU temperature (in C).\n"));
  EXPECT_THAT(page.of("DCGM_FI_DEV_GPU_TEMP")[3],
              ::testing::MatchesRegex("DCGM_FI_DEV_GPU_TEMP.gpu=\"3\",UUID=\"GPU-[0-9a-f-]+\",pci_bus_id=\"00000000:"
                                      "[0-9A-F:]+.0\",device=\"nvidia3\",modelName=\"NVIDIA H100 80GB HBM3\","
                                      "Hostname=\"node-1\",DCGM_FI_DRIVER_VERSION=\"550.90.07\". [0-9]+"));
  EXPECT_THAT(page.of("DCGM_FI_DEV_POWER_USAGE")[0], ::testing::MatchesRegex(".* [0-9]+\\.[0-9]{6}"));
  EXPECT_EQ(page.value("slipway_dcgm_driver_up"), "1");
  EXPECT_EQ(page.count("slipway_dcgm_gpu_up"), 8U);
  EXPECT_THAT(health(), HasSubstr(" 200 OK\r\n"));
  service.signal(SIGTERM);
  EXPECT_EQ(service.exit_code(), 0) << service.log();
}

TEST_F(DcgmService, FollowsTheGpus) {
  RunningService service(host_, service_words());
  ASSERT_TRUE(service.hears("READY=1")) << service.log();
  sim("gpu 2 load 90");
  sim("gpu 2 memory 4096");
  sim("gpu 5 xid 63");
  EXPECT_TRUE(page_gets([](const Page& page) {
    const std::string active = page.value("DCGM_FI_PROF_GR_ENGINE_ACTIVE", "gpu=\"2\"");
    return page.value("DCGM_FI_DEV_FB_USED", "gpu=\"2\"") == "4096" && active.starts_with("0.8") &&
           page.value("DCGM_FI_DEV_XID_ERRORS", "gpu=\"5\"") == "63" &&
           page.value("DCGM_FI_DEV_XID_ERRORS", "err_code=\"63\"") == "63";
  })) << scrape().text;
}

TEST_F(DcgmService, SurvivesADriverThatIsUnloadedAndReplaced) {
  RunningService service(host_, service_words());
  ASSERT_TRUE(service.hears("READY=1")) << service.log();
  sim("driver unloaded");
  ASSERT_TRUE(has_gpus(0)) << "no value is told that nobody read";
  const Page away = scrape();
  EXPECT_EQ(away.value("slipway_dcgm_driver_up"), "0");
  EXPECT_EQ(away.value("slipway_dcgm_driver_outages_total"), "1");
  EXPECT_EQ(away.value("slipway_dcgm_gpu_up", "gpu=\"3\""), "0");
  EXPECT_THAT(health(), HasSubstr(" 503 "));
  EXPECT_THAT(health(), HasSubstr("the GPUs cannot be read: "));
  sim("driver 570.133.20");
  ASSERT_TRUE(has_gpus(8)) << service.log();
  const Page back = scrape();
  EXPECT_EQ(back.value("slipway_dcgm_driver_up"), "1");
  EXPECT_EQ(back.value("slipway_dcgm_driver_outages_total"), "1");
  EXPECT_THAT(back.of("DCGM_FI_DEV_GPU_TEMP")[0], HasSubstr("DCGM_FI_DRIVER_VERSION=\"570.133.20\""));
  EXPECT_THAT(health(), HasSubstr(" 200 OK\r\n"));
  service.signal(SIGTERM);
  EXPECT_EQ(service.exit_code(), 0) << service.log();
}

// Rates need two samples: without an extra one, an interval would pass without rates after each reload.
TEST_F(DcgmService, HasRatesInTheFirstSampleAfterADriverCameBack) {
  interval_ = "1h";
  spec("");
  RunningService service(host_, service_words());
  ASSERT_TRUE(service.hears("READY=1")) << service.log();
  EXPECT_EQ(scrape().value("slipway_dcgm_samples_total"), "1");
  EXPECT_EQ(scrape().count("DCGM_FI_PROF_GR_ENGINE_ACTIVE"), 8U);
  EXPECT_EQ(scrape().count("DCGM_FI_PROF_PCIE_TX_BYTES"), 8U);
}

TEST_F(DcgmService, ContinuesWithoutALostGpuAndReportsIt) {
  RunningService service(host_, service_words());
  ASSERT_TRUE(service.hears("READY=1")) << service.log();
  sim("gpu 3 lost");
  ASSERT_TRUE(has_gpus(7)) << service.log();
  const Page page = scrape();
  EXPECT_EQ(page.count("slipway_dcgm_gpu_up"), 8U);
  EXPECT_EQ(page.value("slipway_dcgm_gpu_up", "gpu=\"3\""), "0");
  EXPECT_EQ(page.value("slipway_dcgm_gpu_up", "gpu=\"4\""), "1");
  EXPECT_EQ(page.value("slipway_dcgm_driver_up"), "1");
  EXPECT_EQ(page.value("DCGM_FI_DEV_GPU_TEMP", "gpu=\"3\""), "");
  EXPECT_TRUE(eventually([&] { return service.log().find("NVML_ERROR_GPU_IS_LOST") != std::string::npos; }));
  const Control control(host_.path("run/slipway/service/dcgm.sock").string());
  EXPECT_TRUE(eventually(
      [&] { return control.ask(R"({"op":"status"})")["reasons"].dump().find("GPU 3 (") != std::string::npos; }));
  sim("gpu 3 found");
  EXPECT_TRUE(has_gpus(8)) << service.log();
}

TEST_F(DcgmService, KeepsTheStateOfAnUnlistedGpu) {
  RunningService service(host_, service_words());
  ASSERT_TRUE(service.hears("READY=1")) << service.log();
  const std::string uuid_of_3 = scrape().of("slipway_dcgm_gpu_up")[3];
  const std::string uuid = uuid_of_3.substr(uuid_of_3.find("UUID="), 48);
  sim("gpu 3 remove");
  ASSERT_TRUE(page_gets([&](const Page& each) { return each.value("slipway_dcgm_gpu_up", uuid) == "0"; }))
      << scrape().text << service.log();
  const Page page = scrape();
  EXPECT_EQ(page.count("slipway_dcgm_gpu_up"), 8U) << page.text;
  EXPECT_EQ(page.count("DCGM_FI_DEV_GPU_TEMP"), 7U) << page.text;
  EXPECT_EQ(page.value("DCGM_FI_DEV_GPU_TEMP", uuid), "");
  sim("gpu 3 restore");
  EXPECT_TRUE(page_gets([&](const Page& each) { return each.value("slipway_dcgm_gpu_up", uuid) == "1"; }));
  EXPECT_EQ(scrape().count("slipway_dcgm_gpu_up"), 8U);
}

TEST_F(DcgmService, ContinuesWithoutAGpuThatACallHangsOn) {
  RunningService service(host_, service_words());
  ASSERT_TRUE(service.hears("READY=1")) << service.log();
  sim("gpu 0 hang");
  ASSERT_TRUE(has_gpus(7)) << service.log();
  EXPECT_EQ(scrape().value("slipway_dcgm_gpu_up", "gpu=\"0\""), "0");
  EXPECT_EQ(scrape().value("slipway_dcgm_gpu_up", "gpu=\"7\""), "1");
  sim("gpu 0 resume");
  EXPECT_TRUE(has_gpus(8)) << service.log();
  service.signal(SIGTERM);
  EXPECT_EQ(service.exit_code(), 0) << service.log();
}

TEST_F(DcgmService, ReleasesTheDriverWhileItIsQuiescedAndReportsThat) {
  RunningService service(host_, service_words());
  ASSERT_TRUE(service.hears("READY=1")) << service.log();
  {
    const Control control(host_.path("run/slipway/service/dcgm.sock").string());
    ASSERT_EQ(control.ask(R"({"op":"quiesce"})")["ok"], true);
    const std::string calls = sim("calls").out;
    const Page page = scrape();
    EXPECT_EQ(page.value("slipway_dcgm_driver_released"), "1") << page.text;
    EXPECT_EQ(page.value("slipway_dcgm_driver_up"), "0");
    EXPECT_EQ(page.count("DCGM_FI_DEV_GPU_TEMP"), 0U);
    EXPECT_THAT(health(), HasSubstr(" 503 "));
    EXPECT_EQ(sim("calls").out, calls) << "nothing of NVML is called";
    sim("driver 570.133.20");
  }
  ASSERT_TRUE(has_gpus(8)) << service.log();
  EXPECT_EQ(scrape().value("slipway_dcgm_driver_released"), "0");
  EXPECT_EQ(scrape().value("slipway_dcgm_driver_outages_total"), "0") << "that was no outage";
}

TEST_F(DcgmService, AsksNoGpuDuringAScrape) {
  interval_ = "1h";
  spec("");
  RunningService service(host_, service_words());
  ASSERT_TRUE(service.hears("READY=1")) << service.log();
  const std::string calls = sim("calls").out;
  const std::string page = scrape().text;
  for (int i = 0; i < 20; ++i) EXPECT_EQ(scrape().text, page);
  EXPECT_EQ(sim("calls").out, calls);
}

TEST_F(DcgmService, ListsGpuInstancesInsteadOfTheirGpu) {
  machine_ = "h100x2,driver=550.90.07,mig=1g.10gb";
  RunningService service(host_, service_words());
  ASSERT_TRUE(service.hears("READY=1")) << service.log();
  const Page page = scrape();
  EXPECT_EQ(page.count("DCGM_FI_DEV_GPU_TEMP"), 14U);
  EXPECT_THAT(page.of("DCGM_FI_DEV_FB_USED")[0], HasSubstr(",GPU_I_PROFILE=\"1g.10gb\",GPU_I_ID=\""));
  EXPECT_EQ(page.count("DCGM_FI_PROF_GR_ENGINE_ACTIVE"), 14U);
  EXPECT_EQ(page.count("DCGM_FI_PROF_PCIE_TX_BYTES"), 0U) << "only a whole GPU has it";
  EXPECT_EQ(page.count("slipway_dcgm_gpu_up"), 2U);
  std::set<std::string> energies;  // of the GPU, so each instance has the same value
  for (const std::string& line : page.of("DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION"))
    if (line.find("gpu=\"1\"") != std::string::npos) energies.insert(line.substr(line.rfind(' ')));
  EXPECT_THAT(energies, ::testing::SizeIs(1)) << page.text;
}

TEST_F(DcgmService, LeavesOutUnsupportedValues) {
  machine_ = "t4x4,driver=550.90.07";
  RunningService service(host_, service_words());
  ASSERT_TRUE(service.hears("READY=1")) << service.log();
  const Page page = scrape();
  EXPECT_EQ(page.count("DCGM_FI_DEV_GPU_UTIL"), 4U);
  EXPECT_EQ(page.count("DCGM_FI_PROF_GR_ENGINE_ACTIVE"), 0U) << "which needs Hopper, or DCGM's own module";
  EXPECT_EQ(page.count("slipway_dcgm_read_errors_total"), 0U);
}

TEST_F(DcgmService, LoadsAnotherFileOfCountersAndKeepsTheFormerIfItIsInvalid) {
  host_.put("etc/counters.csv", "DCGM_FI_DEV_GPU_TEMP, gauge, a\nDCGM_FI_DEV_DIAG_MEMORY_RESULT, gauge, b\n");
  spec(", collectors: /etc/counters.csv");
  RunningService service(host_, service_words());
  ASSERT_TRUE(service.hears("READY=1")) << service.log();
  EXPECT_EQ(scrape().count("DCGM_FI_DEV_GPU_TEMP"), 8U);
  EXPECT_EQ(scrape().count("DCGM_FI_DEV_SM_CLOCK"), 0U);
  EXPECT_THAT(service.log(), HasSubstr("left out: DCGM_FI_DEV_DIAG_MEMORY_RESULT"));
  host_.put("etc/counters.csv", "DCGM_FI_DEV_GPU_TMEP, gauge, a\n");
  EXPECT_TRUE(eventually([&] {
    return service.log().find("did you mean 'DCGM_FI_DEV_GPU_TEMP'") != std::string::npos;
  })) << service.log();
  EXPECT_EQ(scrape().count("DCGM_FI_DEV_GPU_TEMP"), 8U);
  host_.put("etc/counters.csv", "DCGM_FI_DEV_SM_CLOCK, gauge, a\n");
  EXPECT_TRUE(page_gets([](const Page& page) { return page.count("DCGM_FI_DEV_SM_CLOCK") == 8; })) << service.log();
}

// Before the fix, the GPU's name was read with each sample.
TEST_F(DcgmService, MakesOnlyTheCallsThatItsCountersNeed) {
  host_.put("etc/one.csv", "DCGM_FI_DEV_GPU_TEMP, gauge, t\n");
  spec(", collectors: /etc/one.csv, page: false");
  RunningService service(host_, service_words());
  ASSERT_TRUE(service.hears("READY=1")) << service.log();
  ASSERT_TRUE(page_gets([](const Page& page) {
    const std::string samples = page.value("slipway_dcgm_samples_total");
    return !samples.empty() && std::stoi(samples) > 10;
  })) << scrape().text;
  EXPECT_GE(calls_of("nvmlDeviceGetTemperature"), 8 * 10);
  for (const char* once : {"nvmlDeviceGetName", "nvmlDeviceGetPciInfo_v3"}) EXPECT_EQ(calls_of(once), 8) << once;
  for (const std::string& line : lines_of(sim("calls").out))
    EXPECT_THAT(line,
                ContainsRegex("^$|^initialisations |^nvmlInit|Event|^nvmlSystemGetDriverVersion |"
                              "^nvmlDeviceGet(Count_v2|HandleByIndex_v2|MigMode|Name|PciInfo_v3|Temperature|UUID) "));
}

TEST_F(DcgmService, ReadsSomeCountersAtTheirOwnIntervals) {
  host_.put("etc/dcgm.yaml",
            "version: 1\nmetrics:\n  fields:\n"
            "  - {name: DCGM_FI_DEV_GPU_TEMP, prometheusType: gauge, help: t}\n"
            "  - {name: DCGM_FI_DEV_SM_CLOCK, prometheusType: gauge, help: c}\n"
            "  - {name: DCGM_FI_PROF_GR_ENGINE_ACTIVE, prometheusType: gauge, help: g}\n"
            "collection:\n  interval: 1h\n"
            "  watchGroups: [{name: fast, interval: 100ms, fields: [\"DCGM_*_TEMP\"]}]\n");
  interval_ = "\"\"";
  spec(", config_file: /etc/dcgm.yaml, page: false");
  RunningService service(host_, service_words());
  ASSERT_TRUE(service.hears("READY=1")) << service.log();
  EXPECT_THAT(service.log(), HasSubstr("every 60m, some counters every 100ms"));
  ASSERT_TRUE(page_gets([](const Page& page) {
    const std::string samples = page.value("slipway_dcgm_samples_total");
    return !samples.empty() && std::stoi(samples) > 10;
  })) << scrape().text;
  EXPECT_GE(calls_of("nvmlDeviceGetTemperature"), 8 * 10);
  EXPECT_EQ(calls_of("nvmlDeviceGetClockInfo"), 8 * 2) << "the first look is two, for rates";
  EXPECT_EQ(calls_of("nvmlGpmMetricsGet"), 8);
  for (const char* metric : {"DCGM_FI_DEV_GPU_TEMP", "DCGM_FI_DEV_SM_CLOCK", "DCGM_FI_PROF_GR_ENGINE_ACTIVE"})
    EXPECT_EQ(scrape().count(metric), 8U) << metric << " keeps its value";
  // Values of another driver are read again, even if they are not due.
  sim("driver unloaded");
  ASSERT_TRUE(has_gpus(0)) << service.log();
  EXPECT_EQ(scrape().count("DCGM_FI_DEV_SM_CLOCK"), 0U);
  sim("driver loaded");
  ASSERT_TRUE(page_gets([](const Page& page) { return page.count("DCGM_FI_DEV_SM_CLOCK") == 8; })) << service.log();
  host_.put("etc/dcgm.yaml", "version: 1\nmetrics: {file: /etc/other.csv}\n");
  EXPECT_TRUE(eventually([&] { return service.log().find("/etc/dcgm.yaml has changed") != std::string::npos; }))
      << service.log();
}

TEST_F(DcgmService, ReportsNvlinksAndProcessorsOnRequest) {
  host_.put("etc/counters.csv",
            "DCGM_FI_DEV_NVLINK_GET_STATE, gauge, s\nDCGM_FI_DEV_NVLINK_THROUGHPUT_PER_LINK, gauge, t\n"
            "DCGM_FI_DEV_CPU_UTIL_TOTAL, gauge, u\nDCGM_FI_DEV_NVSWITCH_POWER_VDD, gauge, p\n");
  spec(", collectors: /etc/counters.csv, switch_devices: \"i:1-4\", cpu_devices: g");
  RunningService service(host_, service_words());
  ASSERT_TRUE(service.hears("READY=1")) << service.log();
  ASSERT_TRUE(page_gets([](const Page& page) { return page.count("DCGM_FI_DEV_NVLINK_GET_STATE") == 32; }))
      << scrape().text;
  EXPECT_EQ(scrape().count("DCGM_FI_DEV_NVLINK_THROUGHPUT_PER_LINK"), 32U);
  EXPECT_THAT(scrape().text, HasSubstr("DCGM_FI_DEV_NVLINK_GET_STATE{nvlink=\"4\",gpu=\"7\",gpu_uuid=\"GPU-"));
  EXPECT_THAT(service.log(), HasSubstr("left out: DCGM_FI_DEV_NVSWITCH_POWER_VDD"));
  sim("driver unloaded");
  EXPECT_TRUE(page_gets([](const Page& page) { return page.count("DCGM_FI_DEV_NVLINK_GET_STATE") == 0; }));
}

TEST_F(DcgmService, IsNotPlannedWithInvalidFiles) {
  const auto error = [this](const std::string& keys) {
    spec(keys);
    const Ran plan = host_.slipway(words({"plan"}));
    EXPECT_EQ(plan.code, 1) << keys << plan.out;
    return plan.out + plan.err;
  };
  EXPECT_THAT(error(", devices: \"g:0,8\""), HasSubstr("devices names GPU 8, but this machine has 8 GPUs"));
  EXPECT_THAT(error(", devices: \"i:64\""), HasSubstr("devices names GPU instance 64"));
  EXPECT_THAT(error(", switch_devices: \"g:0\""), HasSubstr("'g:0' selects NVSwitches, which NVML does not know"));
  EXPECT_THAT(error(", web_config_file: /etc/web.yaml"), HasSubstr("/etc/web.yaml is missing"));
  EXPECT_THAT(error(", health_rules: /etc/rules.yaml"), HasSubstr("/etc/rules.yaml"));
  EXPECT_THAT(error(", engine_address: \"other:5555\""), HasSubstr("has no effect without engine: external"));
  EXPECT_THAT(error(", engine: external, engine_address: \"300.1.1.1:5555\""),
              HasSubstr("not an address of a DCGM engine"));
  host_.put("etc/dcgm.yaml", "version: 1\nmetrics: {file: /etc/c.csv}\ncollection: {interval: 1ms}\n");
  EXPECT_THAT(error(", config_file: /etc/dcgm.yaml"), HasSubstr("/etc/dcgm.yaml:3:"));
  host_.put("etc/slipway/health-rules.yaml", "version: v1\nxids: {79: {severity: fatal}, 79: {severity: degraded}}\n");
  EXPECT_THAT(error(""), HasSubstr("/etc/slipway/health-rules.yaml:2:"));
}

TEST_F(DcgmService, AnswersWithoutADriverAndFindsItLater) {
  machine_ = "h100x8,driver=none";
  RunningService service(host_, service_words());
  ASSERT_TRUE(service.hears("READY=1")) << service.log();
  EXPECT_EQ(scrape().value("slipway_dcgm_driver_up"), "0");
  EXPECT_THAT(health(), HasSubstr(" 503 "));
  sim("driver loaded");
  EXPECT_TRUE(has_gpus(8)) << service.log();
}

TEST_F(DcgmService, SaysThatScrapesFailWhileItsPortIsTaken) {
  const auto [fd, port] = slipway::testing::take_port();
  ASSERT_EQ(::listen(fd, 1), 0);
  port_ = port;
  spec("");
  RunningService service(host_, service_words());
  ASSERT_TRUE(service.hears("READY=1")) << service.log();
  EXPECT_TRUE(eventually([&] { return service.log().find("dcgm.listen") != std::string::npos; })) << service.log();
  EXPECT_TRUE(service.hears("STATUS=metrics cannot be scraped: ")) << service.told();
  ::close(fd);
  EXPECT_TRUE(has_gpus(8)) << service.log();
}

TEST_F(DcgmService, RefusesASpecThatIsInvalidInThePlan) {
  const std::vector<std::pair<std::string, std::string>> table{
      {"listen: localhost", "'localhost' is not an address to listen on"},
      {"interval: 10", "interval"},
      {"interval: 10ms", "too short"},
      {"collectors: counters.csv", "an absolute path"},
      {"collectors: /etc/none.csv", "/etc/none.csv"},
      {"colectors: /etc/none.csv", "did you mean 'collectors'?"}};
  for (const auto& [key, message] : table) {
    host_.spec("    dcgm: {" + key + "}\n");
    const Ran plan = host_.slipway(words({"plan"}));
    EXPECT_NE(plan.code, 0) << key;
    EXPECT_NE(plan.code, 2) << key;
    EXPECT_THAT(plan.out + plan.err, HasSubstr(message)) << key;
  }
}

TEST_F(DcgmService, IsAUnitInAnImageThatRemovalDeletes) {
  const auto before = host_.tree();
  host_.spec("    dcgm: {}\n");
  const Ran apply = host_.slipway({"apply"});
  ASSERT_EQ(apply.code, 0) << apply.out << apply.err;
  const std::string unit = host_.text("etc/systemd/system/slipway-dcgm.service");
  EXPECT_THAT(unit, HasSubstr("service dcgm --boot"));
  EXPECT_THAT(unit, HasSubstr("RestrictAddressFamilies="));
  EXPECT_EQ(host_.slipway({"plan"}).code, 0) << "nothing is left to do";
  const Ran remove = host_.slipway({"remove", "dcgm"});
  ASSERT_EQ(remove.code, 0) << remove.out << remove.err;
  EXPECT_FALSE(std::filesystem::exists(host_.path("etc/systemd/system/slipway-dcgm.service")));
}

TEST_F(DcgmService, IsVerifiedByASampleOfAllGpus) {
  const Ran good = host_.slipway(words({"verify"}));
  EXPECT_THAT(good.out, HasSubstr("pass  dcgm.gpus: 8 GPUs can be read")) << good.err;
  sim("gpu 6 lost");
  sim("gpu 2 lost");
  const Ran bad = host_.slipway(words({"verify"}));
  EXPECT_EQ(bad.code, 1) << bad.out;
  EXPECT_THAT(bad.out, HasSubstr("GPU 6 cannot be read: "));
  EXPECT_THAT(bad.out, HasSubstr("GPU 2 cannot be read: ")) << "each has its own entry";
  sim("driver unloaded");
  EXPECT_THAT(host_.slipway(words({"verify"})).out, HasSubstr("not-exercised  dcgm.gpus"));
}

}  // namespace
}  // namespace slipway
