// SPDX-License-Identifier: Apache-2.0
// The calls of the driver watch and their times: counted at the simulated library.
#include "deviceplugin/service/driver_watch.hpp"

#include <cstdlib>
#include <fstream>
#include <sstream>

#include <gmock/gmock.h>
#include <poll.h>

#include <slipway/testing/failing_host.hpp>
#include <slipway/testing/fake_host.hpp>
#include <slipway/testing/temp_dir.hpp>

#include "nvidia/nvml/device.hpp"
#include "nvidia/nvml/mig.hpp"

namespace slipway::deviceplugin {
namespace {

using slipway::testing::FailingHost;
using slipway::testing::FakeHost;
using ::testing::IsEmpty;

constexpr const char* kMinors = "/proc/driver/nvidia-caps/mig-minors";

class DriverWatchTest : public ::testing::Test {
 protected:
  ~DriverWatchTest() override { ::unsetenv("SLIPWAY_SIM"); }

  /// Creates a machine, and runs the first two passes.
  void begin(const std::string& profile) {
    ASSERT_EQ(tool("make " + profile), 0);
    ::setenv("SLIPWAY_SIM", folder_.string().c_str(), 1);
    watch_.emplace(
        host_,
        nvidia::nvml::NvmlOptions{.library = {.named = SLIPWAY_SIM_LIBRARY}, .call_limit = std::chrono::seconds(5)},
        HealthRules{.quiet_time = std::chrono::milliseconds(1), .long_quiet_time = std::chrono::milliseconds(1)},
        [this](const char*, const std::string& text) { log_ += text + "\n"; });
    pass();
    pass();
    ASSERT_TRUE(watch_->looked()) << watch_->problem();
  }
  void pass() { watch_->pass(filter_); }
  /// Waits like the service's loop: until an event arrives, or a pass is due.
  void turn() {
    std::vector<pollfd> watched;
    for (const int fd : watch_->descriptors()) watched.push_back({fd, POLLIN, 0});
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(watch_->next() - std::chrono::steady_clock::now());
    ::poll(watched.data(), watched.size(), static_cast<int>(std::clamp<std::int64_t>(left.count(), 0, 60'000)));
    pass();
  }
  /// True when the condition holds after at most that many turns.
  template <class Condition>
  bool within(int turns, const Condition& holds) {
    for (int i = 0; i < turns && !holds(); ++i) turn();
    return holds();
  }
  int tool(const std::string& words) const {
    const std::string command = SLIPWAY_SIM_PROGRAM " " + folder_.string() + " " + words + " >" + output();
    const int status = std::system(command.c_str());
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }
  /// Returns the calls of NVML by function since the last time, without waits for events.
  std::map<std::string, long> calls() {
    EXPECT_EQ(tool("calls"), 0);
    std::ifstream in(output());
    std::map<std::string, long> all;
    std::string name;
    for (long count = 0; in >> name >> count;)
      if (name.find("EventSet") == std::string::npos) all[name] = count;
    std::map<std::string, long> fresh;
    for (const auto& [each, count] : all)
      if (count != before_[each]) fresh[each] = count - before_[each];
    before_ = std::move(all);
    return fresh;
  }
  std::string reason(unsigned gpu) const { return watch_->book().of(watch_->gpus().at(gpu).uuid).reason; }
  bool is_due_in_seconds() const { return watch_->next() > std::chrono::steady_clock::now() + std::chrono::seconds(5); }
  std::string output() const { return folder_.at("output").string(); }

  slipway::testing::TempDir folder_;
  FakeHost machine_;
  FailingHost host_{machine_};
  std::string log_;
  std::map<std::string, long> before_;
  nvidia::health::Rules rules_ = nvidia::health::default_rules();
  XidFilter filter_{"", "", rules_};
  std::optional<DriverWatch> watch_;
};

// Before the fix, each XID was logged.
TEST_F(DriverWatchTest, LogsAStormOfXidsOnce) {
  begin("h100x2,driver=580.159.04");
  for (int i = 0; i < 20; ++i) ASSERT_EQ(tool("gpu 0 xid 31"), 0);
  ASSERT_EQ(tool("gpu 1 xid 31"), 0);
  EXPECT_TRUE(within(20, [&] { return log_.find(watch_->gpus()[1].uuid + ": XID 31") != std::string::npos; })) << log_;
  std::size_t lines = 0;
  for (std::size_t at = log_.find(": XID 31"); at != std::string::npos; at = log_.find(": XID 31", at + 1)) ++lines;
  EXPECT_EQ(lines, 2U) << log_;
}

// Before the fix, the watch read each GPU's MIG mode four times a second.
TEST_F(DriverWatchTest, MakesNoCallsAtRest) {
  begin("h100x8,driver=580.159.04");
  EXPECT_TRUE(is_due_in_seconds());
  EXPECT_FALSE(watch_->descriptors().empty());
  (void)calls();
  for (int i = 0; i < 100; ++i) pass();
  EXPECT_THAT(calls(), IsEmpty());
}

// Reads each value of each GPU once: the GPU itself answers for its MIG mode, which takes 160 microseconds.
TEST_F(DriverWatchTest, ACheckQueriesEachGpuOnce) {
  begin("h100x8,driver=580.159.04");
  (void)calls();
  const unsigned reads = host_.calls("read");
  watch_->look_soon();
  pass();
  const auto asked = calls();
  EXPECT_EQ(asked.at("nvmlSystemGetDriverVersion"), 1);
  EXPECT_EQ(asked.at("nvmlDeviceGetMigMode"), 8);
  for (const auto& [name, count] : asked) EXPECT_LE(count, 8) << name;
  EXPECT_FALSE(asked.contains("nvmlInit_v2"));
  EXPECT_LE(host_.calls("read") - reads, 8U) << "the NUMA node of each GPU, and no mig-minors";
}

// The file has 4,322 lines on an H100; before the fix, it was read and parsed every two seconds.
TEST_F(DriverWatchTest, ReadsTheMinorsOfMigWhenTheyCanHaveChanged) {
  const auto write_minors = [&](unsigned first) {
    std::string lines;
    for (unsigned instance = 0; instance < 20; ++instance)
      lines += "gpu0/gi" + std::to_string(instance) + "/access " + std::to_string(first + instance) + "\n";
    machine_.file(kMinors, lines);
  };
  const auto has_minors_from = [&](unsigned first) {
    const std::vector<MigDevice>& devices = watch_->gpus().at(0).mig_devices;
    return devices.size() == 2 && std::ranges::all_of(devices, [&](const MigDevice& each) {
             return each.paths ==
                    std::vector<std::string>{"/dev/nvidia-caps/nvidia-cap" + std::to_string(first + each.gpu_instance)};
           });
  };
  write_minors(100);
  begin("a100-40x1,mig=3g.20gb/2g.10gb");
  EXPECT_TRUE(has_minors_from(100));
  write_minors(200);
  (void)calls();
  watch_->look_soon();
  pass();
  EXPECT_TRUE(has_minors_from(100)) << "read again, though nothing has told of a change";
  EXPECT_FALSE(calls().contains("nvmlDeviceGetGpuInstanceProfileInfo")) << "half a millisecond each";
  watch_->release();  // the driver is loaded again
  EXPECT_TRUE(within(3, [&] { return has_minors_from(200); }));
}

// No call is needed to find it: the wait for events ends.
TEST_F(DriverWatchTest, ALostGpuIsReportedByEvents) {
  for (const char* driver : {"535.261.03", "580.159.04"}) {
    SCOPED_TRACE(driver);
    begin(std::string("h100x8,driver=") + driver);
    ASSERT_EQ(tool("gpu 3 lost"), 0);
    EXPECT_TRUE(within(6, [&] { return reason(3) == "lost"; })) << log_;
    EXPECT_FALSE(is_due_in_seconds()) << "it is asked whether it is back";
    ASSERT_EQ(tool("gpu 3 found"), 0);
    EXPECT_TRUE(within(100, [&] { return reason(3).empty(); })) << log_;
    EXPECT_TRUE(within(6, [&] { return is_due_in_seconds(); })) << "at rest again";
  }
}

TEST_F(DriverWatchTest, AnXidIsHandledAtOnce) {
  begin("h100x8,driver=580.159.04");
  ASSERT_EQ(tool("gpu 5 xid 79"), 0);
  turn();
  EXPECT_EQ(reason(5), "xid-79");
}

// Programs in pods can make a GPU send any number of events: not each may cause a check.
TEST_F(DriverWatchTest, ChecksOnceForManyEvents) {
  begin("h100x2,driver=580.159.04");
  (void)calls();
  const auto begin = std::chrono::steady_clock::now();
  long looks = 0;
  for (int i = 0; i < 30; ++i) {
    ASSERT_EQ(tool("gpu 1 xid 31"), 0);
    turn();
    const auto asked = calls();
    if (const auto version = asked.find("nvmlSystemGetDriverVersion"); version != asked.end()) looks += version->second;
  }
  const auto quarters = (std::chrono::steady_clock::now() - begin) / std::chrono::milliseconds(250);
  EXPECT_LE(looks, quarters + 1);
}

TEST_F(DriverWatchTest, AChangeOfMigIsReportedByEvents) {
  begin("a100-40x2,driver=535.261.03,mig=on");
  ASSERT_THAT(watch_->gpus().at(0).mig_devices, IsEmpty());
  EXPECT_TRUE(is_due_in_seconds());
  nvidia::nvml::Nvml other({.library = {.named = SLIPWAY_SIM_LIBRARY}, .call_limit = std::chrono::seconds(5)});
  ASSERT_TRUE(other.reopen());
  const auto gpu = nvidia::nvml::device_at(other, 0);
  const auto profiles = nvidia::nvml::gpu_instance_profiles(other, *gpu);
  ASSERT_TRUE(profiles.ok());
  const auto places = nvidia::nvml::placements(other, *gpu, profiles->front().id);
  const auto instance = nvidia::nvml::create_gpu_instance(other, *gpu, profiles->front().id, places->front());
  ASSERT_TRUE(instance.ok()) << nvidia::nvml::error_text(instance.code());
  const auto profile = nvidia::nvml::compute_instance_profile(other, *instance, 0, 0);
  ASSERT_TRUE(nvidia::nvml::create_compute_instance(other, *instance, profile->id, {0, 1}).ok());
  EXPECT_TRUE(within(6, [&] { return watch_->gpus().at(0).mig_devices.size() == 1; })) << log_;
}

TEST_F(DriverWatchTest, AnUnloadedDriverIsReportedByEventsAndRecovers) {
  begin("h100x2,driver=535.261.03");
  ASSERT_EQ(tool("driver unloaded"), 0);
  EXPECT_TRUE(within(6, [&] { return !watch_->problem().empty(); }));
  EXPECT_EQ(reason(0), "driver-gone");
  ASSERT_EQ(tool("driver loaded"), 0);
  EXPECT_TRUE(within(20, [&] { return watch_->problem().empty(); })) << log_;
}

}  // namespace
}  // namespace slipway::deviceplugin
