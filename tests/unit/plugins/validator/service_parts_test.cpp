// SPDX-License-Identifier: Apache-2.0
#include <thread>

#include <sys/stat.h>

#include "gpu_machine.hpp"
#include "validator/component/validator.hpp"
#include "validator/service/gauges.hpp"
#include "validator/service/keeper.hpp"
#include "validator/service/status_files.hpp"

namespace slipway::validator {
namespace {

using slipway::testing::TempDir;
using ::testing::HasSubstr;
using ::testing::Not;

TEST(Gauges, AreThoseOfTheReferenceWithTheNodeAsLabel) {
  const std::string text = gauges_text({.node = "node-1", .driver_ready = true, .plugin_devices = 8});
  for (const char* line :
       {"gpu_operator_node_driver_ready{node=\"node-1\"} 1", "gpu_operator_node_toolkit_ready{node=\"node-1\"} 0",
        "gpu_operator_node_plugin_ready{node=\"node-1\"} 0", "gpu_operator_node_cuda_ready{node=\"node-1\"} 0",
        "gpu_operator_node_driver_validation{node=\"node-1\"} 0",
        "gpu_operator_node_driver_validation_last_success_ts_seconds{node=\"node-1\"} 0",
        "gpu_operator_node_device_plugin_devices_total{node=\"node-1\"} 8",
        "gpu_operator_node_device_plugin_validation_last_success_ts_seconds{node=\"node-1\"} 0",
        "gpu_operator_node_metrics_ready_ts_seconds{node=\"node-1\"} 0",
        "gpu_operator_nvidia_pci_devices_total{node=\"node-1\"} -1"})
    EXPECT_THAT(text, HasSubstr(std::string(line) + "\n"));
  EXPECT_THAT(gauges_text({.node = "a\"b\\c\nd"}), HasSubstr(R"({node="a\"b\\c\nd"})"));
}

class StatusFilesTest : public ::testing::Test {
 protected:
  void show(const std::map<std::string, StatusFile>& wanted) {
    const auto shown = files.show(wanted, {"driver-ready", "cuda-ready"});
    EXPECT_TRUE(shown) << to_text(shown.error());
  }
  std::string path(const std::string& name) const { return root.at("run/nvidia/validations/" + name).string(); }
  struct stat info(const std::string& name) const {
    struct stat status {};
    EXPECT_EQ(::stat(path(name).c_str(), &status), 0) << name;
    return status;
  }
  TempDir root;
  StatusFiles files{RootDir::open(root.string()).value(), "/run/nvidia/validations"};
};

TEST_F(StatusFilesTest, AreCreatedAndRemoved) {
  show({{"driver-ready", {"A=b\n", 0600}}, {"cuda-ready", {}}});
  EXPECT_EQ(info("driver-ready").st_mode & 07777U, 0600U);
  EXPECT_EQ(info("driver-ready").st_size, 4);
  EXPECT_EQ(info("cuda-ready").st_mode & 07777U, 0644U);
  show({{"cuda-ready", {}}});
  EXPECT_FALSE(std::filesystem::exists(path("driver-ready")));
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(path("")), {}), 1);
}

TEST_F(StatusFilesTest, AreWrittenOnlyWhenTheyAreNotRight) {
  show({{"driver-ready", {"A=b\n", 0600}}});
  const auto before = info("driver-ready");
  show({{"driver-ready", {"A=b\n", 0600}}});
  EXPECT_EQ(info("driver-ready").st_ino, before.st_ino);
  std::ofstream(path("driver-ready")) << "X=y\n";
  show({{"driver-ready", {"A=b\n", 0600}}});
  EXPECT_NE(info("driver-ready").st_ino, before.st_ino);
}

TEST_F(StatusFilesTest, ReplaceFilesOfAPod) {
  root.directory("run/nvidia/validations");
  ASSERT_EQ(::mkfifo(path("driver-ready").c_str(), 0600), 0);
  root.file("outside", "A=b\n");
  root.link("run/nvidia/validations/cuda-ready", "/outside");
  show({{"driver-ready", {"A=b\n", 0600}}, {"cuda-ready", {"A=b\n", 0644}}});
  EXPECT_TRUE(S_ISREG(info("driver-ready").st_mode));
  EXPECT_FALSE(std::filesystem::is_symlink(path("cuda-ready")));
}

TEST_F(StatusFilesTest, LeaveThoseOfOthersAlone) {
  root.file("run/nvidia/validations/workload-type", "container\n");
  show({{"cuda-ready", {}}});
  show({});
  EXPECT_TRUE(std::filesystem::exists(path("workload-type")));
}

class KeeperTest : public testing::GpuMachine {
 protected:
  static Settings settings() {
    return {.checks = {"driver", "toolkit", "cuda", "plugin"},
            .companions = {"gdrcopy"},
            .driver_root = "",
            .directory = "/run/nvidia/validations",
            .address = "",
            .node = "n"};
  }
  std::vector<std::string> names() const {
    std::vector<std::string> list;
    for (const auto& [name, file] : keeper.files()) list.push_back(name);
    return list;
  }
  Keeper keeper{host, settings(), testing::look_here};
};

TEST_F(KeeperTest, RequestsFilesOfPassedChecksOnly) {
  (void)keeper.pass(true);
  EXPECT_THAT(names(), ::testing::ElementsAre(".driver-ctr-ready", "driver-ready"));
  EXPECT_EQ(keeper.files().at("driver-ready").mode, 0600U);
  EXPECT_TRUE(keeper.gauges().driver_ready);
  EXPECT_FALSE(keeper.gauges().cuda_ready);
  EXPECT_EQ(keeper.gauges().pci_devices, 2);
  host.module_loaded_now("gdrdrv");
  (void)keeper.pass(true);
  EXPECT_THAT(names(), ::testing::Contains("gdrcopy-ready"));
}

TEST_F(KeeperTest, FollowsADriverThatIsLostAndComesBack) {
  (void)keeper.pass(true);
  nvml.file("lost", "");
  const auto changed = keeper.pass(true);
  ASSERT_FALSE(changed.empty());
  EXPECT_EQ(changed.front().name, "validator.driver");
  EXPECT_TRUE(names().empty());
  EXPECT_FALSE(keeper.gauges().driver_valid);
  EXPECT_GT(keeper.gauges().driver_valid_time, 0) << "when it last worked is kept";
  std::filesystem::remove(nvml.at("lost"));
  (void)keeper.pass(true);
  EXPECT_THAT(names(), ::testing::Contains("driver-ready"));
}

TEST_F(KeeperTest, SaysAChangeOnceAndNotWithEveryRound) {
  EXPECT_FALSE(keeper.pass(true).empty());
  constexpr int kManyRounds = 30;
  int quiet = 0;
  for (int round = 0; round < 2000 && quiet < kManyRounds; ++round) {  // CUDA's test ends at some time
    quiet = keeper.pass(true).empty() ? quiet + 1 : 0;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  EXPECT_EQ(quiet, kManyRounds);
}

TEST_F(KeeperTest, RemovesFilesWhenTheKernelShowsNoDriver) {
  (void)keeper.pass(true);
  keeper.release();
  keeper.pass_without_driver();
  EXPECT_THAT(names(), ::testing::Contains("driver-ready"));
  host.without("/sys/module/nvidia").file("/proc/modules", "");
  keeper.pass_without_driver();
  EXPECT_THAT(names(), Not(::testing::Contains("driver-ready")));
}

class ValidatorPlan : public testing::GpuMachine {};

TEST_F(ValidatorPlan, NotesAnIgnoredKeyOfTheConfig) {
  const Json section{{"port", 0}, {"config", {{"version", "v1"}, {"flags", {{"migStratgy", "mixed"}}}}}};
  const auto facts = Validator{}.detect(Spec(section), host);
  ASSERT_TRUE(facts);
  const auto plan = Validator{}.plan(Spec(section), *facts, Inputs{});
  ASSERT_TRUE(plan) << to_text(plan.error());
  EXPECT_THAT(plan->notes(), ::testing::ElementsAre(::testing::HasSubstr("did you mean 'migStrategy'?")));
}

}  // namespace
}  // namespace slipway::validator
