// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/component/gfd/program.hpp"

namespace slipway {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

/// `slipway service gfd` every second over a machine of two H100 below a root of its own.
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

TEST_F(GfdService, OutlivesALostGpu) {
  Background service(command(), folder_.at("log"));
  ASSERT_TRUE(label("gpu.count=2")) << log();
  ASSERT_EQ(sim("gpu 0 lost"), 0);
  EXPECT_TRUE(eventually([&] { return log().find("NVML_ERROR_GPU_IS_LOST") != std::string::npos; })) << log();
  EXPECT_THAT(labels(), HasSubstr("nvidia.com/gpu.count=2"));
  ASSERT_EQ(sim("gpu 0 found"), 0);
  EXPECT_TRUE(eventually([&] { return log().find("up to date again") != std::string::npos; })) << log();
}

TEST_F(GfdService, OutlivesACallThatHangs) {
  Background service(command(), folder_.at("log"));
  ASSERT_TRUE(label("gpu.count=2")) << log();
  ASSERT_EQ(sim("gpu 0 hang"), 0);
  EXPECT_TRUE(
      eventually([&] { return log().find("did not answer in time") != std::string::npos; }, std::chrono::seconds(30)))
      << log();
  ASSERT_EQ(sim("gpu 0 resume"), 0);
  EXPECT_TRUE(eventually([&] { return log().find("up to date again") != std::string::npos; })) << log();
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

// A mistake that only gfd finds ended the service.
TEST_F(GfdService, GoesOnWithTheFormerSpecWhenTheNewOneIsWrong) {
  Background service(command(), folder_.at("log"));
  ASSERT_TRUE(label("gpu.count=2")) << log();
  spec(", config_file: /missing.yaml");
  service.signal(SIGHUP);
  EXPECT_TRUE(eventually([&] {
    return log().find("the new spec is refused, going on with the former one: ") != std::string::npos;
  })) << log();
  spec(", mig_strategy: mixed");
  service.signal(SIGHUP);
  EXPECT_TRUE(label("mig.strategy=mixed")) << log();
  EXPECT_EQ(service.stop(), 0);
}

TEST_F(GfdService, TakesTheVariablesOfItsSpecAndEndsWithoutADriverWhereItIsToldTo) {
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

TEST_F(GfdService, SaysWhatIsWrongInItsSpecAndEnds) {
  folder_.file("host.yaml",
               "apiVersion: slipway.dev/v1\nkind: Host\nmetadata: {name: node}\nspec:\n  components:\n"
               "    gfd: {interval: soon}\n");
  const Ran ran = run(command());
  EXPECT_EQ(ran.status, 1);
  EXPECT_THAT(ran.errors, HasSubstr("'soon' is no interval"));
}

/// What `slipway verify` finds about the labels of a running machine, which has a systemd where there is such a folder.
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

// An apply ended with "it does not work" and named a systemd that was not there.
TEST_F(GfdVerify, ExercisesNothingWhereOnlyPeopleStartTheServiceAndNobodyHas) {
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

TEST_F(GfdVerify, FailsWithoutLabelsWhereSystemdIsToHaveStartedTheService) {
  folder_.file("run/systemd/system/x", "");
  const std::string found = verify();
  EXPECT_THAT(found, HasSubstr("fail  gfd.labels: " + output_ + " is not there"));
  EXPECT_THAT(found, HasSubstr("systemctl status slipway-gfd.service"));
}

TEST_F(GfdVerify, FailsWithoutLabelsWhereTheServiceRunsOrHasDied) {
  folder_.file("run/slipway/service/gfd.sock", "");
  EXPECT_THAT(verify(), HasSubstr("fail  gfd.labels: " + output_ + " is not there"));
}

}  // namespace
}  // namespace slipway
