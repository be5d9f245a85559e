// SPDX-License-Identifier: Apache-2.0
// Fields that only DCGM provides, from a stand-in for its library and its host engine.
#include <sys/stat.h>

#include <slipway/testing/temp_dir.hpp>

#include "tests/component/dcgm/dcgm_node.hpp"

namespace slipway {
namespace {

using slipway::testing::Control;
using slipway::testing::DcgmNode;
using slipway::testing::eventually;
using slipway::testing::Page;
using slipway::testing::RunningService;
using slipway::testing::TempDir;
using ::testing::HasSubstr;
using ::testing::Not;

/// Four T4, for which NVML has no profiling.
class DcgmEngine : public DcgmNode {
 protected:
  DcgmEngine() {
    machine_ = "t4x4,driver=550.90.07";
    ::setenv("STANDIN_DCGM", standin_.path().c_str(), 1);
    mode("ok");
    std::filesystem::create_directories(standin_.at("lib"));
    std::filesystem::create_directories(standin_.at("bin"));
    std::filesystem::copy_file(SLIPWAY_STANDIN_DCGM, standin_.at("lib/libdcgm.so.4"));
    ::setenv("LD_LIBRARY_PATH", standin_.at("lib").c_str(), 1);
    ::setenv("PATH", (standin_.at("bin").string() + ":" + path_).c_str(), 1);
    host_.put("etc/counters.csv",
              "DCGM_FI_DEV_GPU_TEMP, gauge, a\nDCGM_FI_PROF_SM_ACTIVE, gauge, b\nDCGM_FI_PROF_PCIE_RX_BYTES, gauge, c\n"
              "DCGM_FI_DEV_DIAG_MEMORY_RESULT, gauge, d\n");
  }
  ~DcgmEngine() override {
    ::unsetenv("STANDIN_DCGM");
    ::unsetenv("LD_LIBRARY_PATH");
    ::setenv("PATH", path_.c_str(), 1);
  }

  void mode(const std::string& word) const {
    standin_.file("mode.new", word);
    std::filesystem::rename(standin_.at("mode.new"), standin_.at("mode"));
  }
  std::string output(const std::string& file) const {
    std::ifstream in(standin_.at(file));
    return {std::istreambuf_iterator<char>(in), {}};
  }
  void engine(const std::string& keys) { spec(", collectors: /etc/counters.csv, " + keys); }
  /// The stand-in has the GPUs of the simulated machine, in the reverse order.
  void write_uuids() const {
    std::string uuids;
    for (const std::string& line : scrape().of("slipway_dcgm_gpu_up")) {
      const std::size_t at = line.find("UUID=\"") + 6;
      uuids = line.substr(at, line.find('"', at) - at) + "\n" + uuids;
    }
    standin_.file("uuids", uuids);
  }
  void install_host_engine(const std::string& last) const {
    standin_.file("bin/nv-hostengine",
                  "#!/bin/sh\necho \"$$ $*\" >> \"$STANDIN_DCGM/started\"\n"
                  "while [ $# -gt 0 ]; do [ \"$1\" = --domain-socket ] && socket=$2; shift; done\n" +
                      last + "\n");
    ::chmod(standin_.at("bin/nv-hostengine").c_str(), 0755);
  }
  const std::string path_ = std::getenv("PATH") == nullptr ? "/usr/bin:/bin" : std::getenv("PATH");
  slipway::testing::TempDir standin_;
};

TEST_F(DcgmEngine, ProvidesValuesThatNvmlLacks) {
  engine("engine: external, engine_address: \"127.0.0.1:5555\"");
  RunningService service(host_, service_words());
  ASSERT_TRUE(service.hears("READY=1")) << service.log();
  write_uuids();
  ASSERT_TRUE(page_gets([](const Page& page) { return page.count("DCGM_FI_PROF_SM_ACTIVE") == 4; }))
      << scrape().text << service.log() << output("calls");
  const Page page = scrape();
  EXPECT_EQ(page.value("DCGM_FI_PROF_SM_ACTIVE", "gpu=\"3\""), "0.500000") << "by the UUID, not the number";
  EXPECT_EQ(page.value("DCGM_FI_PROF_SM_ACTIVE", "gpu=\"0\""), "0.530000");
  EXPECT_EQ(page.value("DCGM_FI_DEV_DIAG_MEMORY_RESULT", "gpu=\"3\""), "3500");
  EXPECT_EQ(page.count("DCGM_FI_PROF_PCIE_RX_BYTES"), 0U) << "a blank is not a value";
  EXPECT_EQ(page.value("slipway_dcgm_engine_up"), "1");
  EXPECT_THAT(output("calls"), HasSubstr("connect 127.0.0.1:5555 tcp\nwatch 350 1002 1010 54 every 100000\n"));
  service.signal(SIGTERM);
  EXPECT_EQ(service.exit_code(), 0) << service.log();
  EXPECT_THAT(output("calls"), HasSubstr("disconnect\n"));
}

TEST_F(DcgmEngine, ThatIsUnreachableIsNamedAndTriedAgain) {
  mode("refuse");
  engine("engine: external");
  RunningService service(host_, service_words());
  ASSERT_TRUE(service.hears("READY=1")) << service.log();
  write_uuids();
  ASSERT_TRUE(page_gets([](const Page& page) { return page.value("slipway_dcgm_engine_up") == "0"; }));
  EXPECT_EQ(scrape().count("DCGM_FI_DEV_GPU_TEMP"), 4U) << "NVML's values are there";
  EXPECT_THAT(service.log(),
              HasSubstr("the DCGM engine does not answer at localhost:5555: Host engine connection invalid (-21)"));
  const Control control(host_.path("run/slipway/service/dcgm.sock").string());
  EXPECT_THAT(control.ask(R"({"op":"status"})")["reasons"].dump(), HasSubstr("the DCGM engine does not answer"));
  mode("ok");
  EXPECT_TRUE(page_gets([](const Page& page) { return page.count("DCGM_FI_PROF_SM_ACTIVE") == 4; })) << service.log();
  mode("drop");
  EXPECT_TRUE(page_gets([](const Page& page) { return page.count("DCGM_FI_PROF_SM_ACTIVE") == 0; })) << service.log();
  mode("ok");
  EXPECT_TRUE(page_gets([](const Page& page) { return page.count("DCGM_FI_PROF_SM_ACTIVE") == 4; })) << service.log();
}

// Before the fix, the engine was "up" without a listener, because it had not been asked.
TEST_F(DcgmEngine, HasNoStateWhileItIsNotUsed) {
  host_.put("etc/counters.csv", "DCGM_FI_DEV_GPU_TEMP, gauge, a\n");
  engine("engine: external");
  RunningService service(host_, service_words());
  ASSERT_TRUE(service.hears("READY=1")) << service.log();
  ASSERT_TRUE(has_gpus(4));
  EXPECT_EQ(scrape().count("slipway_dcgm_engine_up"), 0U) << scrape().text;
  EXPECT_THAT(service.log(), HasSubstr("so the DCGM engine is not used"));
  EXPECT_EQ(output("calls"), "");
}

TEST_F(DcgmEngine, ThatHangsDelaysNothing) {
  engine("engine: external");
  RunningService service(host_, service_words());
  ASSERT_TRUE(service.hears("READY=1")) << service.log();
  write_uuids();
  ASSERT_TRUE(page_gets([](const Page& page) { return page.count("DCGM_FI_PROF_SM_ACTIVE") == 4; })) << service.log();
  mode("hang");
  ASSERT_TRUE(page_gets([](const Page& page) { return page.value("slipway_dcgm_engine_up") == "0"; })) << service.log();
  EXPECT_THAT(service.log(), HasSubstr("the DCGM engine does not answer within 5 s"));
  const std::string samples = scrape().value("slipway_dcgm_samples_total");
  EXPECT_TRUE(page_gets([&](const Page& page) { return page.value("slipway_dcgm_samples_total") != samples; }));
  mode("ok");
  EXPECT_TRUE(page_gets([](const Page& page) { return page.count("DCGM_FI_PROF_SM_ACTIVE") == 4; })) << service.log();
  service.signal(SIGTERM);
  EXPECT_EQ(service.exit_code(), 0) << service.log();
}

TEST_F(DcgmEngine, ThatIsMissingIsReported) {
  std::filesystem::remove(standin_.at("lib/libdcgm.so.4"));
  engine("engine: managed");
  RunningService service(host_, service_words());
  ASSERT_TRUE(service.hears("READY=1")) << service.log();
  EXPECT_TRUE(service.hears("STATUS=nv-hostengine is not installed")) << service.told();
  install_host_engine(": > \"$socket\"; exec sleep 1000");
  EXPECT_TRUE(service.hears("STATUS=libdcgm.so.4 is missing")) << service.told();
  EXPECT_EQ(scrape().count("DCGM_FI_DEV_GPU_TEMP"), 4U);
}

TEST_F(DcgmEngine, IsStartedRestartedAndStoppedByTheService) {
  install_host_engine(": > \"$socket\"; exec sleep 1000");
  engine("engine: managed");
  RunningService service(host_, service_words());
  ASSERT_TRUE(service.hears("READY=1")) << service.log();
  write_uuids();
  const auto has_values = [](const Page& page) { return page.count("DCGM_FI_PROF_SM_ACTIVE") == 4; };
  ASSERT_TRUE(page_gets(has_values)) << service.log() << output("calls");
  EXPECT_THAT(output("started"),
              HasSubstr(" -n --domain-socket " + host_.path("run/slipway/dcgm-engine/socket").string()));
  const pid_t first = std::stoi(output("started"));
  ::kill(first, SIGKILL);
  ASSERT_TRUE(eventually([&] { return split(output("started"), '\n').size() > 2; })) << service.log();
  EXPECT_THAT(service.log(), HasSubstr("nv-hostengine ended: signal 9"));
  ASSERT_TRUE(page_gets(has_values)) << service.log();
  const pid_t second = std::stoi(split(output("started"), '\n')[1]);
  {
    const Control control(host_.path("run/slipway/service/dcgm.sock").string());
    ASSERT_EQ(control.ask(R"({"op":"quiesce"})")["ok"], true);
    EXPECT_NE(::kill(second, 0), 0) << "the driver is free when quiesce has been answered";
  }
  ASSERT_TRUE(page_gets(has_values)) << service.log();
  const pid_t third = std::stoi(split(output("started"), '\n')[2]);
  service.signal(SIGTERM);
  EXPECT_EQ(service.exit_code(), 0) << service.log();
  EXPECT_NE(::kill(third, 0), 0) << "it has ended with the service";
}

// Before the fix, with --sim, the library and nv-hostengine of the --root folder ran on this machine.
TEST_F(DcgmEngine, OfAnotherRootIsNotRunForASimulatedMachine) {
  host_.put("usr/bin/nv-hostengine", "#!/bin/sh\n: > \"$STANDIN_DCGM/foreign\"\nexec sleep 1000\n");
  ::chmod(host_.path("usr/bin/nv-hostengine").c_str(), 0755);
  std::filesystem::create_directories(host_.path("usr/lib/x86_64-linux-gnu"));
  std::filesystem::rename(standin_.at("lib/libdcgm.so.4"), host_.path("usr/lib/x86_64-linux-gnu/libdcgm.so.4"));
  engine("engine: managed");
  {
    RunningService service(host_, service_words());
    ASSERT_TRUE(service.hears("READY=1")) << service.log();
    EXPECT_TRUE(service.hears("STATUS=nv-hostengine is not installed")) << service.told();
  }
  EXPECT_FALSE(std::filesystem::exists(standin_.at("foreign")));
  engine("engine: external");
  RunningService service(host_, service_words());
  EXPECT_TRUE(service.hears("STATUS=libdcgm.so.4 is missing")) << service.told();
  EXPECT_EQ(output("calls"), "");
}

TEST_F(DcgmEngine, ReportsNvSwitchesAndTheirLinks) {
  standin_.file("switches", "8 0 17\n11 5\n");
  host_.put("etc/counters.csv",
            "DCGM_FI_DEV_GPU_TEMP, gauge, a\nDCGM_FI_DEV_NVSWITCH_TEMPERATURE_CURRENT, gauge, b\n"
            "DCGM_FI_DEV_NVSWITCH_LINK_FLIT_ERRORS, counter, c\n");
  engine("engine: external");
  RunningService service(host_, service_words());
  ASSERT_TRUE(service.hears("READY=1")) << service.log();
  write_uuids();
  ASSERT_TRUE(page_gets([](const Page& page) { return page.count("DCGM_FI_DEV_NVSWITCH_LINK_FLIT_ERRORS") == 3; }))
      << scrape().text << service.log() << output("calls");
  const Page page = scrape();
  EXPECT_THAT(page.of("DCGM_FI_DEV_NVSWITCH_TEMPERATURE_CURRENT"),
              ::testing::ElementsAre(
                  "DCGM_FI_DEV_NVSWITCH_TEMPERATURE_CURRENT{nvswitch=\"nvswitch8\",Hostname=\"node-1\"} 8588",
                  "DCGM_FI_DEV_NVSWITCH_TEMPERATURE_CURRENT{nvswitch=\"nvswitch11\",Hostname=\"node-1\"} 8591"));
  EXPECT_EQ(
      page.value("DCGM_FI_DEV_NVSWITCH_LINK_FLIT_ERRORS", "{nvlink=\"17\",nvswitch=\"nvswitch8\",Hostname=\"node-1\"}"),
      "7877");
  EXPECT_EQ(page.value("slipway_dcgm_engine_up"), "1");
}

TEST_F(DcgmEngine, ProvidesNvLinkValuesThatNvmlLacks) {
  standin_.file("links", "4 2");
  host_.put("etc/counters.csv",
            "DCGM_FI_DEV_GPU_TEMP, gauge, a\nDCGM_FI_DEV_NVLINK_PPCNT_IBPC_PORT_XMIT_WAIT, counter, b\n");
  engine("engine: external, switch_devices: \"i:2\"");
  RunningService service(host_, service_words());
  ASSERT_TRUE(service.hears("READY=1")) << service.log();
  write_uuids();
  constexpr const char* kWait = "DCGM_FI_DEV_NVLINK_PPCNT_IBPC_PORT_XMIT_WAIT";
  ASSERT_TRUE(page_gets([](const Page& page) { return page.count(kWait) == 4; })) << scrape().text << service.log();
  EXPECT_EQ(scrape().value(kWait, "{nvlink=\"2\",gpu=\"3\","), "15091");
}

TEST_F(DcgmEngine, WithoutNvSwitchesSaysSoAndProvidesTheRest) {
  host_.put("etc/counters.csv", "DCGM_FI_DEV_DIAG_MEMORY_RESULT, gauge, a\nDCGM_FI_DEV_NVSWITCH_POWER_VDD, gauge, b\n");
  engine("engine: external");
  RunningService service(host_, service_words());
  ASSERT_TRUE(service.hears("READY=1")) << service.log();
  write_uuids();
  ASSERT_TRUE(page_gets([](const Page& page) { return page.count("DCGM_FI_DEV_DIAG_MEMORY_RESULT") == 4; }))
      << scrape().text << service.log();
  EXPECT_EQ(scrape().count("DCGM_FI_DEV_NVSWITCH_POWER_VDD"), 0U);
  EXPECT_EQ(scrape().value("slipway_dcgm_engine_up"), "1");
  EXPECT_THAT(service.log(), HasSubstr("the DCGM engine reports nothing, or not everything, about NVSwitches"));
}

// Before the fix, the target of a root's own link was closed to other users.
TEST_F(DcgmEngine, DoesNotFollowALinkInThePlaceOfItsFolder) {
  install_host_engine(": > \"$socket\"; exec sleep 1000");
  engine("engine: managed");
  const TempDir elsewhere;
  std::filesystem::create_directories(host_.path("run/slipway"));
  std::filesystem::create_directory_symlink(elsewhere.path(), host_.path("run/slipway/dcgm-engine"));
  const auto before = std::filesystem::status(elsewhere.path()).permissions();
  RunningService service(host_, service_words());
  ASSERT_TRUE(service.hears("READY=1")) << service.log();
  write_uuids();
  EXPECT_TRUE(eventually([&] { return service.told().find("dcgm-engine") != std::string::npos; })) << service.told();
  EXPECT_EQ(std::filesystem::status(elsewhere.path()).permissions(), before);
  EXPECT_TRUE(std::filesystem::is_empty(elsewhere.path()));
}

TEST_F(DcgmEngine, ThatKeepsEndingIsStartedLessAndLessOften) {
  install_host_engine("exit 3");
  engine("engine: managed");
  RunningService service(host_, service_words());
  ASSERT_TRUE(service.hears("READY=1")) << service.log();
  EXPECT_TRUE(service.hears("STATUS=nv-hostengine ended (exit status 3), and is started again within "))
      << service.told();
  EXPECT_TRUE(eventually([&] { return split(output("started"), '\n').size() > 3; })) << output("started");
  EXPECT_LT(split(output("started"), '\n').size(), 7U) << output("started");
  EXPECT_EQ(scrape().value("slipway_dcgm_engine_up"), "0");
}

}  // namespace
}  // namespace slipway
