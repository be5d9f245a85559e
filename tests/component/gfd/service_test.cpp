// SPDX-License-Identifier: Apache-2.0
#include <regex>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/component/gfd/program.hpp"

namespace slipway {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

/// `slipway service gfd` every second on a machine of two H100 below its own root.
class GfdService : public ::testing::Test {
 protected:
  void spec(const std::string& keys) const {
    folder_.file("host.yaml",
                 "apiVersion: slipway.dev/v1\nkind: Host\nmetadata: {name: node}\nspec:\n  components:\n"
                 "    gfd: {interval: 1s" +
                     keys + "}\n");
  }
  void SetUp() override { spec(""); }
  std::string command() const {
    return SLIPWAY_PROGRAM " service gfd -f " + folder_.at("host.yaml") + " --sim h100x2 --root " + folder_.path();
  }
  std::string labels() const { return content(folder_.at("etc/kubernetes/node-feature-discovery/features.d/gfd")); }
  std::string log() const { return content(folder_.at("log")); }
  bool label(const std::string& line) const {
    return eventually([&] { return labels().find("nvidia.com/" + line + "\n") != std::string::npos; });
  }
  int sim(const std::string& words) const {
    return run(SLIPWAY_SIM_PROGRAM " " + folder_.at("run/slipway/sim") + " " + words).status;
  }
  Folder folder_;
};

TEST_F(GfdService, WritesTheLabelsAndEndsOnSigterm) {
  Background service(command(), folder_.at("log"));
  EXPECT_TRUE(label("gpu.count=2")) << log();
  EXPECT_EQ(service.stop(), 0) << log();
  EXPECT_THAT(labels(), HasSubstr("nvidia.com/gpu.count=2"));  // they outlive the service
}

TEST_F(GfdService, NoticesAChangeAndLeavesTheFileAloneOtherwise) {
  Background service(command(), folder_.at("log"));
  ASSERT_TRUE(label("gpu.count=2")) << log();
  const auto first = written(folder_.at("etc/kubernetes/node-feature-discovery/features.d/gfd"));
  std::this_thread::sleep_for(std::chrono::milliseconds(2500));
  EXPECT_EQ(written(folder_.at("etc/kubernetes/node-feature-discovery/features.d/gfd")), first);
  ASSERT_EQ(sim("gpu 1 remove"), 0);
  EXPECT_TRUE(label("gpu.count=1")) << log();
}

TEST_F(GfdService, KeepsGoodLabelsWhileTheDriverIsAway) {
  Background service(command(), folder_.at("log"));
  ASSERT_TRUE(label("gpu.count=2")) << log();
  for (const char* fault : {"driver unloaded", "driver mismatch"}) {
    ASSERT_EQ(sim(fault), 0);
    EXPECT_TRUE(eventually([&] { return log().find("labels stay as they are") != std::string::npos; })) << log();
    EXPECT_THAT(labels(), HasSubstr("nvidia.com/gpu.count=2"));
  }
  ASSERT_EQ(sim("driver 570.133.20"), 0);
  EXPECT_TRUE(label("cuda.driver-version.full=570.133.20")) << log();
  EXPECT_TRUE(service.running());
}

// Before the fix, the service reported "Labels are up to date", without labels.
TEST_F(GfdService, ReportsMissingLabelsWithoutADriver) {
  const std::string machine = " --sim h100x2,driver=none --root " + folder_.path();
  const Background service(SLIPWAY_PROGRAM " service gfd -f " + folder_.at("host.yaml") + machine, folder_.at("log"));
  EXPECT_TRUE(eventually([&] {
    return run(SLIPWAY_PROGRAM " status" + machine).output.find("no labels of GPUs: ") != std::string::npos;
  })) << log();
}

TEST_F(GfdService, FollowsItsConfigFileAndKeepsTheLastGoodOne) {
  spec(", config_file: /etc/dp.yaml");
  folder_.file("etc/dp.yaml", "{version: v1, sharing: {timeSlicing: {replicas: 4}}}\n");
  Background service(command(), folder_.at("log"));
  ASSERT_TRUE(label("gpu.replicas=4")) << log();
  folder_.file("etc/dp.yaml", "{version: v1, sharing: {timeSlicing: {replicas: 8}}}\n");
  EXPECT_TRUE(label("gpu.replicas=8")) << log();
  folder_.file("etc/dp.yaml", "{version: v1, sharing: {timeSlicing: {replicas: many}}}\n");
  EXPECT_TRUE(eventually([&] { return log().find("/etc/dp.yaml:1:") != std::string::npos; })) << log();
  EXPECT_TRUE(label("gpu.replicas=8"));
}

// Before the fix, the labels contradicted the same host.yaml: one replica and no sharing, although kubelet was offered
// four of each GPU.
TEST_F(GfdService, SharesLikeDevicepluginOfTheSameSpec) {
  const auto host = [&](const std::string& plugin) {
    folder_.file("host.yaml",
                 "apiVersion: slipway.dev/v1\nkind: Host\nmetadata: {name: node}\nspec:\n  components:\n"
                 "    deviceplugin: " +
                     plugin + "\n    gfd: {interval: 1s}\n");
  };
  host("{config: {version: v1, sharing: {timeSlicing: {resources: [{name: nvidia.com/gpu, replicas: 4}]}}}}");
  const std::string apply =
      SLIPWAY_PROGRAM " apply --yes -f " + folder_.at("host.yaml") + " --sim h100x2 --root " + folder_.path();
  Ran applied = run(apply);
  ASSERT_EQ(applied.status, 0) << applied.output << applied.errors;
  Background service(command(), folder_.at("log"));
  ASSERT_TRUE(label("gpu.replicas=4")) << log();
  EXPECT_THAT(labels(), HasSubstr("nvidia.com/gpu.sharing-strategy=time-slicing"));
  EXPECT_THAT(labels(), HasSubstr("-SHARED\n"));
  EXPECT_THAT(content(folder_.at("etc/slipway/services/gfd.json")), HasSubstr("\"replicas\": 4"));
  // Another config of deviceplugin changes gfd's plan.
  folder_.file("etc/dp.yaml", "version: v1\nsharing: {timeSlicing: {replicas: 2}}\n");
  host("{config_file: /etc/dp.yaml}");
  const Ran plan =
      run(SLIPWAY_PROGRAM " plan --only gfd -f " + folder_.at("host.yaml") + " --sim h100x2 --root " + folder_.path());
  EXPECT_EQ(plan.status, 2) << plan.output << plan.errors;
  EXPECT_THAT(plan.output, HasSubstr("/etc/slipway/services/gfd.json"));
  applied = run(apply);
  ASSERT_EQ(applied.status, 0) << applied.output << applied.errors;
  service.signal(SIGHUP);
  EXPECT_TRUE(label("gpu.replicas=2")) << log();
  folder_.file("etc/dp.yaml", "version: v1\nflags: {migStrategy: mixed}\n");
  EXPECT_TRUE(label("gpu.replicas=1")) << log() << "the file is followed";
  EXPECT_TRUE(label("mig.strategy=mixed"));
}

TEST_F(GfdService, FollowsDevicepluginsConfigFromALabel) {
  folder_.file("host.yaml",
               "apiVersion: slipway.dev/v1\nkind: Host\nmetadata: {name: node}\nspec:\n  components:\n"
               "    deviceplugin: {config_file: /etc/configs, config_choice_file: /etc/chosen}\n"
               "    gfd: {interval: 1s}\n");
  folder_.file("etc/configs/four", "{version: v1, sharing: {timeSlicing: {replicas: 4}}}\n");
  folder_.file("etc/configs/two", "{version: v1, sharing: {timeSlicing: {replicas: 2}}}\n");
  folder_.file("etc/chosen", "four\n");
  Background service(command(), folder_.at("log"));
  ASSERT_TRUE(label("gpu.replicas=4")) << log();
  folder_.file("etc/chosen", "two\n");
  EXPECT_TRUE(label("gpu.replicas=2")) << log();
}

TEST_F(GfdService, NotesAContradictionWithDevicepluginsConfig) {
  folder_.file("host.yaml",
               "apiVersion: slipway.dev/v1\nkind: Host\nmetadata: {name: node}\nspec:\n  components:\n"
               "    deviceplugin: {config: {version: v1, sharing: {timeSlicing: {replicas: 4}}}}\n"
               "    gfd: {mig_strategy: mixed, config: {version: v1, sharing: {timeSlicing: {replicas: 2}}}}\n");
  const Ran plan =
      run(SLIPWAY_PROGRAM " plan -f " + folder_.at("host.yaml") + " --sim h100x2 --root " + folder_.path());
  EXPECT_EQ(plan.status, 2) << plan.errors;
  const std::string printed = plan.output + plan.errors;
  EXPECT_THAT(printed,
              HasSubstr("sharing: gfd has time-slicing, 2 of each device, and deviceplugin has time-slicing, 4 "
                        "of each device"));
  EXPECT_THAT(printed, HasSubstr("MIG strategy: gfd has mixed, and deviceplugin has none"));
}

// Before the fix, the config file was read only in the next pass, a minute later by default.
TEST_F(GfdService, FollowsItsConfigFileForAnyInterval) {
  spec(", config_file: /etc/dp.yaml");
  folder_.file("host.yaml",
               std::regex_replace(content(folder_.at("host.yaml")), std::regex("interval: 1s"), "interval: 1h"));
  folder_.file("etc/dp.yaml", "{version: v1, sharing: {timeSlicing: {replicas: 4}}}\n");
  Background service(command(), folder_.at("log"));
  ASSERT_TRUE(label("gpu.replicas=4")) << log();
  folder_.file("etc/dp.yaml", "{version: v1, sharing: {timeSlicing: {replicas: 8}}}\n");
  EXPECT_TRUE(label("gpu.replicas=8")) << log();
  folder_.file("etc/dp.yaml", "{version: v1, sharing: {timeSlicing: {replicas: 2}}}\n");
  EXPECT_TRUE(label("gpu.replicas=2")) << log();
}

TEST_F(GfdService, SurvivesALostGpu) {
  Background service(command(), folder_.at("log"));
  ASSERT_TRUE(label("gpu.count=2")) << log();
  ASSERT_EQ(sim("gpu 0 lost"), 0);
  EXPECT_TRUE(label("gpu.count=1")) << log() << "pods go to the other one";
  const std::string told = "the labels leave out a GPU: nvml: GPU 0: the GPU fell off the bus";
  EXPECT_TRUE(eventually([&] { return log().find(told) != std::string::npos; })) << log();
  ASSERT_EQ(sim("gpu 0 found"), 0);
  EXPECT_TRUE(label("gpu.count=2")) << log();
}

// Before the fix, the labels counted a lost GPU until the interval was over, while the device plugin had found it in a
// second.
TEST_F(GfdService, ChecksAgainWhenAnotherServiceHasLostAGpu) {
  folder_.file("host.yaml",
               std::regex_replace(content(folder_.at("host.yaml")), std::regex("interval: 1s"), "interval: 1h"));
  Background service(command(), folder_.at("log"));
  ASSERT_TRUE(label("gpu.count=2")) << log();
  ASSERT_EQ(sim("gpu 0 lost"), 0);
  folder_.file("run/slipway/health.json", "{}\n");
  EXPECT_TRUE(label("gpu.count=1")) << log();
}

TEST_F(GfdService, SurvivesAHangingCall) {
  Background service(command(), folder_.at("log"));
  ASSERT_TRUE(label("gpu.count=2")) << log();
  ASSERT_EQ(sim("gpu 0 hang"), 0);
  EXPECT_TRUE(
      eventually([&] { return log().find("did not answer in time") != std::string::npos; }, std::chrono::seconds(30)))
      << log();
  ASSERT_EQ(sim("gpu 0 resume"), 0);
  EXPECT_TRUE(label("gpu.count=2")) << log();
  EXPECT_EQ(service.stop(), 0);
}

TEST_F(GfdService, ReadsItsSpecAgainOnSighup) {
  Background service(command(), folder_.at("log"));
  ASSERT_TRUE(label("gpu.count=2")) << log();
  EXPECT_THAT(labels(), Not(HasSubstr("mig.strategy")));
  spec(", mig_strategy: mixed");
  service.signal(SIGHUP);
  EXPECT_TRUE(label("mig.strategy=mixed")) << log();
  EXPECT_TRUE(service.running());
}

// Before the fix, a mistake that only gfd finds ended the service.
TEST_F(GfdService, ContinuesWithTheFormerSpecWhenTheNewOneIsWrong) {
  Background service(command(), folder_.at("log"));
  ASSERT_TRUE(label("gpu.count=2")) << log();
  spec(", config_file: /missing.yaml");
  service.signal(SIGHUP);
  EXPECT_TRUE(eventually([&] {
    return log().find("the new spec is refused, the service keeps the previous one: ") != std::string::npos;
  })) << log();
  spec(", mig_strategy: mixed");
  service.signal(SIGHUP);
  EXPECT_TRUE(label("mig.strategy=mixed")) << log();
  EXPECT_EQ(service.stop(), 0);
}

TEST_F(GfdService, TakesTheVariablesOfItsSpecAndEndsWithoutADriverWhereConfigured) {
  spec(", env: {GFD_OUTPUT_FILE: /srv/labels, GFD_NO_TIMESTAMP: \"true\", FAIL_ON_INIT_ERROR: \"true\"}");
  {
    const Background service(command(), folder_.at("log"));
    const auto written = [&] { return content(folder_.at("srv/labels")); };
    ASSERT_TRUE(eventually([&] { return written().find("nvidia.com/gpu.count=2\n") != std::string::npos; })) << log();
    EXPECT_THAT(written(), Not(HasSubstr("timestamp")));
  }
  ASSERT_EQ(sim("driver unloaded"), 0);
  EXPECT_EQ(run(command()).status, 1);
}

TEST_F(GfdService, ReportsErrorsInItsSpecAndEnds) {
  folder_.file("host.yaml",
               "apiVersion: slipway.dev/v1\nkind: Host\nmetadata: {name: node}\nspec:\n  components:\n"
               "    gfd: {interval: soon}\n");
  const Ran ran = run(command());
  EXPECT_EQ(ran.status, 1);
  EXPECT_THAT(ran.errors, HasSubstr("'soon' is not an interval"));
}

/// Returns what `slipway verify` finds about the labels of a running machine, with systemd if the folder exists.
class GfdVerify : public GfdService {
 protected:
  std::string verify() const {
    const Ran ran =
        run(SLIPWAY_PROGRAM " verify --live -f " + folder_.at("host.yaml") + " --sim h100x2 --root " + folder_.path());
    const std::size_t begin = std::min(ran.output.find("gfd.labels: "), ran.output.size());
    return ran.output.substr(ran.output.rfind('\n', begin) + 1) + ran.errors;
  }
  const std::string output_ = "/etc/kubernetes/node-feature-discovery/features.d/gfd";
};

// Before the fix, an apply ended with "it does not work" and named systemd, which was missing.
TEST_F(GfdVerify, ChecksNothingWhenTheServiceIsStartedByHandAndStopped) {
  const std::string found = verify();
  EXPECT_THAT(found, HasSubstr("not-exercised  gfd.labels: the service does not run, and "));
  EXPECT_THAT(found, HasSubstr("start it: `slipway service "));
  EXPECT_THAT(found, HasSubstr(folder_.path())) << "the command is for this root";
  {
    const Background service(command(), folder_.at("log"));
    ASSERT_TRUE(label("gpu.count=2")) << log();
    EXPECT_THAT(verify(), HasSubstr("  pass  gfd.labels: "));
  }
  folder_.file(output_.substr(1), "nvidia.com/gpu.count=3\n");
  const std::string stale = verify();
  EXPECT_THAT(stale, HasSubstr("fail  gfd.labels: " + output_ + " holds other labels than the GPUs have"));
  EXPECT_THAT(stale, HasSubstr("start the service: `slipway service "));
}

TEST_F(GfdVerify, FailsWithoutLabelsWhereSystemdShouldHaveStartedTheService) {
  folder_.file("run/systemd/system/x", "");
  const std::string found = verify();
  EXPECT_THAT(found, HasSubstr("fail  gfd.labels: " + output_ + " is missing"));
  EXPECT_THAT(found, HasSubstr("systemctl status slipway-gfd.service"));
}

TEST_F(GfdVerify, FailsWithoutLabelsWhereTheServiceRunsOrHasDied) {
  folder_.file("run/slipway/service/gfd.sock", "");
  EXPECT_THAT(verify(), HasSubstr("fail  gfd.labels: " + output_ + " is missing"));
}

}  // namespace
}  // namespace slipway
