// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstddef>
#include <fstream>
#include <sstream>
#include <thread>

#include <fcntl.h>
#include <gmock/gmock.h>
#include <unistd.h>

#include "gfd/labels/fabric.hpp"
#include "nvidia/nvml/abi/process.h"
#include "nvidia/nvml/device.hpp"
#include "nvidia/nvml/event.hpp"
#include "nvidia/nvml/mig.hpp"
#include "nvidia/nvml/system.hpp"
#include "sim/state/machine.hpp"
#include "tests/unit/sim/sim_fixture.hpp"

namespace slipway::sim {
namespace {

namespace nvml = nvidia::nvml;
using ::testing::HasSubstr;

class SimLibrary : public SimTest {
 protected:
  nvmlDevice_t gpu(unsigned index) { return nvml::device_at(*nvml_, index).value_or(nullptr); }
  unsigned profile_id(const std::string& name) {
    const auto profiles = nvml::gpu_instance_profiles(*nvml_, gpu(0));
    for (const auto& profile : *profiles)
      if (profile.name == name) return profile.id;
    ADD_FAILURE() << "no profile " << name;
    return 0;
  }
};

TEST_F(SimLibrary, ShowsTheGpusOfItsProfile) {
  make("h100x8");
  EXPECT_EQ(nvml::device_count(*nvml_).value_or(0), 8U);
  EXPECT_EQ(nvml::device_name(*nvml_, gpu(7)).value_or(""), "NVIDIA H100 80GB HBM3");
  EXPECT_EQ(nvml::device_pci(*nvml_, gpu(0))->address, "0000:18:00.0");
  EXPECT_EQ(nvml::memory(*nvml_, gpu(0))->total, 81559ULL << 20U);
  EXPECT_EQ(nvml::driver_version(*nvml_).value_or(""), "550.90.07");
  EXPECT_FALSE(gfd::fabric(*nvml_, gpu(0))->attached());
}

// A root may contain a machine's file: it is refused when it has more GPUs than there is room for.
TEST_F(SimLibrary, RefusesAMachineWithMoreGpusThanThereIsPlaceFor) {
  make("h100x8");
  nvml_.reset();
  const std::uint32_t many = 0x7fffffff;
  const std::string path = folder_.at("machine").string();
  const int file = ::open(path.c_str(), O_WRONLY | O_CLOEXEC);
  ASSERT_GE(file, 0);
  ASSERT_EQ(::pwrite(file, &many, sizeof many, offsetof(sim::Machine, gpu_count)), ssize_t{sizeof many});
  ::close(file);
  nvidia::nvml::Nvml nvml(
      nvidia::nvml::NvmlOptions{.library = {.named = SIM_LIBRARY}, .call_limit = std::chrono::milliseconds(2000)});
  EXPECT_FALSE(nvml.reopen().ok());
}

TEST_F(SimLibrary, FindsADeviceByUuidAndByPlace) {
  make("t4x4");
  const std::string uuid = nvml::device_uuid(*nvml_, gpu(2)).value_or("");
  EXPECT_EQ(nvml::device_by_uuid(*nvml_, uuid).value_or(nullptr), gpu(2));
  EXPECT_EQ(nvml::device_by_pci(*nvml_, "00000000:00:1D.0").value_or(nullptr), gpu(2));
  EXPECT_EQ(nvml::device_by_uuid(*nvml_, "GPU-0").code(), NVML_ERROR_NOT_FOUND);
  EXPECT_TRUE(nvml::mig_mode(*nvml_, gpu(0)).absent());
}

TEST_F(SimLibrary, SharesItsStateWithOtherProcesses) {
  make("h100x2");
  ASSERT_EQ(tool("gpu 1 mig on"), 0);
  EXPECT_TRUE(nvml::mig_mode(*nvml_, gpu(1))->current);
  EXPECT_FALSE(nvml::mig_mode(*nvml_, gpu(0))->current);
}

TEST_F(SimLibrary, MakesMigDevicesAndRemovesThem) {
  make("h100x2");
  ASSERT_EQ(nvml::set_mig_mode(*nvml_, gpu(0), true).value_or(-5), NVML_SUCCESS);
  const auto instance = nvml::create_gpu_instance(*nvml_, gpu(0), profile_id("3g.40gb"), {4, 4});
  ASSERT_TRUE(instance.ok()) << nvml::error_text(instance.code());
  EXPECT_TRUE(nvml::mig_devices(*nvml_, gpu(0))->empty());  // a GPU instance alone is not a device
  const auto compute = nvml::create_compute_instance(*nvml_, *instance, NVML_COMPUTE_INSTANCE_PROFILE_3_SLICE, {0, 3});
  ASSERT_TRUE(compute.ok());
  const auto devices = nvml::mig_devices(*nvml_, gpu(0));
  ASSERT_EQ(devices->size(), 1U);
  EXPECT_EQ(nvml::mig_attributes(*nvml_, devices->front())->memorySizeMB, 40448U);
  EXPECT_EQ(nvml::gpu_instance_id(*nvml_, devices->front()).value_or(0), 2U);
  EXPECT_EQ(nvml::set_mig_mode(*nvml_, gpu(0), false).value_or(-5), NVML_ERROR_IN_USE);
  EXPECT_EQ(nvml::destroy(*nvml_, *instance).code(), NVML_ERROR_IN_USE);
  EXPECT_TRUE(nvml::destroy(*nvml_, *compute).ok());
  EXPECT_TRUE(nvml::destroy(*nvml_, *instance).ok());
  EXPECT_EQ(nvml::mig_attributes(*nvml_, devices->front()).code(), NVML_ERROR_INVALID_ARGUMENT);
}

TEST_F(SimLibrary, RefusesOverlapsAndInvalidPlacements) {
  make("h100x2");
  ASSERT_TRUE(nvml::set_mig_mode(*nvml_, gpu(0), true).ok());
  const unsigned three = profile_id("3g.40gb");
  ASSERT_TRUE(nvml::create_gpu_instance(*nvml_, gpu(0), three, {0, 4}).ok());
  EXPECT_EQ(nvml::create_gpu_instance(*nvml_, gpu(0), three, {0, 4}).code(), NVML_ERROR_INSUFFICIENT_RESOURCES);
  EXPECT_EQ(nvml::create_gpu_instance(*nvml_, gpu(0), three, {2, 4}).code(), NVML_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(nvml::create_gpu_instance(*nvml_, gpu(1), three, {0, 4}).code(), NVML_ERROR_NOT_SUPPORTED);  // mode is off
}

TEST_F(SimLibrary, KeepsABusyGpusModePending) {
  make("a100-80x8");
  ASSERT_EQ(tool("process add 0 4711 1024"), 0);
  EXPECT_EQ(nvml::set_mig_mode(*nvml_, gpu(0), true).value_or(-5), NVML_ERROR_IN_USE);
  EXPECT_FALSE(nvml::mig_mode(*nvml_, gpu(0))->current);
  EXPECT_TRUE(nvml::mig_mode(*nvml_, gpu(0))->pending);
  ASSERT_EQ(tool("process remove 4711"), 0);
  ASSERT_EQ(tool("gpu 0 reset"), 0);
  EXPECT_TRUE(nvml::mig_mode(*nvml_, gpu(0))->current);
}

TEST_F(SimLibrary, NeedsAResetThatAPassedThroughAmpereCannotHave) {
  make("a100-80x8");
  ASSERT_EQ(tool("gpu 0 no-reset on"), 0);
  EXPECT_EQ(nvml::set_mig_mode(*nvml_, gpu(0), true).value_or(-5), NVML_ERROR_RESET_REQUIRED);
}

TEST_F(SimLibrary, ReportsAnXidToRegisteredClients) {
  make("h100x2");
  const auto set = nvml::EventSet::create(*nvml_);
  ASSERT_TRUE(set.ok());
  ASSERT_EQ(tool("gpu 1 xid 31"), 0);  // before the registration: never reported
  ASSERT_TRUE((*set)->add(gpu(1), NVML_EVENT_XID_CRITICAL_ERROR).ok());
  EXPECT_EQ((*set)->wait(std::chrono::milliseconds(20)).code(), NVML_ERROR_TIMEOUT);
  ASSERT_EQ(tool("gpu 1 xid 79"), 0);
  const auto event = (*set)->wait(std::chrono::milliseconds(1000));
  ASSERT_TRUE(event.ok());
  EXPECT_EQ(event->eventData, 79U);
  EXPECT_EQ(event->device, gpu(1));
}

TEST_F(SimLibrary, LosesAGpuAndAnswersForTheOthers) {
  make("h100x2");
  const nvmlDevice_t lost = gpu(0);
  ASSERT_EQ(tool("gpu 0 lost"), 0);
  EXPECT_EQ(nvml::device_name(*nvml_, lost).code(), NVML_ERROR_GPU_IS_LOST);
  EXPECT_EQ(nvml::device_at(*nvml_, 0).code(), NVML_ERROR_GPU_IS_LOST);
  EXPECT_TRUE(nvml::device_name(*nvml_, gpu(1)).ok());
  ASSERT_EQ(tool("gpu 0 found"), 0);
  EXPECT_TRUE(nvml::device_name(*nvml_, lost).ok());
}

TEST_F(SimLibrary, HangsUntilItIsReleased) {
  make("h100x2");
  const nvmlDevice_t stuck = gpu(0);
  ASSERT_EQ(tool("gpu 0 hang"), 0);
  EXPECT_EQ(nvml::device_name(*nvml_, stuck).code(), nvml::kGaveUp);
  EXPECT_TRUE(nvml::device_name(*nvml_, gpu(1)).ok());  // the lock is not held in the meantime
  ASSERT_EQ(tool("gpu 0 resume"), 0);
  for (int i = 0; i < 200 && nvml_->stuck() > 0; ++i) std::this_thread::sleep_for(std::chrono::milliseconds(10));
  EXPECT_EQ(nvml_->stuck(), 0U);
}

// Components call NVML one after another, and each of them opens it more than once.
TEST_F(SimLibrary, IsOpenedOnceForACommand) {
  make("h100x2");
  ASSERT_EQ(tool("gpu 0 hang"), 0);
  const auto given_up = [] { return nvml::Patience::of_command().given_up(); };
  for (unsigned session = 0; session < 6; ++session) {
    const auto opened = nvml::Nvml::open({.library = {.named = SIM_LIBRARY}, .find_hanging = true});
    ASSERT_TRUE(opened.ok());
    const auto before = given_up();
    EXPECT_GE(before, session + 1) << "opening asked once";
    for (int i = 0; i < 20; ++i) EXPECT_EQ(nvml::device_at(**opened, 0).code(), nvml::kGaveUp);
    EXPECT_EQ(given_up(), before) << "no further call was made about it";
    EXPECT_NE(nvml::device_at(**opened, 1).code(), NVML_ERROR_GPU_IS_LOST);
  }
  ASSERT_EQ(tool("gpu 0 resume"), 0);
  const auto opened = nvml::Nvml::open({.library = {.named = SIM_LIBRARY}, .find_hanging = true});
  ASSERT_TRUE(opened.ok());
  EXPECT_TRUE(nvml::device_at(**opened, 0).ok()) << "it answers again";
}

TEST_F(SimLibrary, SurvivesAnUnloadAndAnUpdateOfTheDriver) {
  make("h100x2");
  const nvmlDevice_t old = gpu(0);
  ASSERT_EQ(tool("driver mismatch"), 0);
  EXPECT_EQ(nvml::device_count(*nvml_).code(), NVML_ERROR_LIB_RM_VERSION_MISMATCH);
  ASSERT_EQ(tool("driver unloaded"), 0);
  const Status refused = nvml_->reopen();
  ASSERT_FALSE(refused.ok());
  EXPECT_THAT(refused.error().what, HasSubstr("NVML_ERROR_DRIVER_NOT_LOADED"));
  ASSERT_EQ(tool("driver 570.133.20"), 0);
  ASSERT_TRUE(nvml_->reopen().ok());
  EXPECT_EQ(nvml::driver_version(*nvml_).value_or(""), "570.133.20");
  EXPECT_EQ(nvml::device_name(*nvml_, old).code(), NVML_ERROR_INVALID_ARGUMENT);  // handles became invalid
}

TEST_F(SimLibrary, HasOnlyTheFunctionsOfItsDriversBranch) {
  make("h100x2,driver=535.261.03");
  EXPECT_TRUE(gfd::fabric(*nvml_, gpu(0)).ok());  // from the older of the two calls
  ASSERT_EQ(tool("calls"), 0);
  std::ifstream in(folder_.string() + "/output");
  std::ostringstream calls;
  calls << in.rdbuf();
  EXPECT_THAT(calls.str(), HasSubstr("nvmlDeviceGetGpuFabricInfo 1"));
}

TEST_F(SimLibrary, CountsEveryCallAndDelaysThoseConfigured) {
  make("h100x2");
  ASSERT_EQ(tool("function nvmlDeviceGetCount_v2 delay 30000"), 0);
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_EQ(nvml::device_count(*nvml_).value_or(0), 2U);
  EXPECT_GE(std::chrono::steady_clock::now() - begin, std::chrono::milliseconds(30));
  ASSERT_EQ(tool("function nvmlDeviceGetCount_v2 fail 999"), 0);
  EXPECT_EQ(nvml::device_count(*nvml_).code(), NVML_ERROR_UNKNOWN);
  EXPECT_EQ(tool("function nvmlNoSuchThing fail 1"), 64);
}

TEST_F(SimLibrary, CountsErrorsEnergyAndRows) {
  make("h100x2");
  ASSERT_EQ(tool("gpu 0 ecc-uncorrected 2"), 0);
  ASSERT_EQ(tool("gpu 0 load 90"), 0);
  const auto first = nvml::field_values(*nvml_, gpu(0), {4, 83, 91, 142, 9999});
  ASSERT_TRUE(first.ok());
  EXPECT_EQ(nvml::number_of((*first)[0]), 2);
  EXPECT_EQ(nvml::number_of((*first)[2]), 18);
  EXPECT_EQ((*first)[3].nvmlReturn, NVML_SUCCESS);
  EXPECT_EQ((*first)[4].nvmlReturn, NVML_ERROR_INVALID_ARGUMENT);
  std::this_thread::sleep_for(std::chrono::milliseconds(30));
  const auto second = nvml::field_values(*nvml_, gpu(0), {83});
  EXPECT_GT(nvml::number_of((*second)[0]), nvml::number_of((*first)[1]));
}

TEST_F(SimLibrary, ListsProcessesWithTheirInstances) {
  make("h100x2,mig=1g.10gb");
  ASSERT_EQ(tool("process add 0 300 500 compute trainer 7 0"), 0);
  const auto list = nvml::processes(*nvml_, gpu(0), nvml::ProcessKind::compute);
  ASSERT_EQ(list->size(), 1U);
  EXPECT_EQ(list->front().memory_bytes, std::optional<std::uint64_t>(500ULL << 20U));
  EXPECT_EQ(list->front().gpu_instance, std::optional<unsigned>(7));
  EXPECT_TRUE(nvml::processes(*nvml_, gpu(1), nvml::ProcessKind::compute)->empty());
}

TEST_F(SimLibrary, SharesALoadAmongItsProcesses) {
  make("h100x2");
  const auto samples = [this](unsigned room) {
    return nvml_->ask<std::vector<nvmlProcessUtilizationSample_t>>(
        [gpu = gpu(0), room](const nvml::Library& open, std::vector<nvmlProcessUtilizationSample_t>& all) {
          all.resize(room);
          unsigned count = room;
          const nvmlReturn_t code =
              nvml::invoke(open.function<nvmlDevice_t, nvmlProcessUtilizationSample_t*, unsigned*, unsigned long long>(
                               "nvmlDeviceGetProcessUtilization"),
                           gpu, room == 0 ? nullptr : all.data(), &count, 0ULL);
          all.resize(std::min(count, room));
          return code;
        });
  };
  EXPECT_EQ(samples(0).code(), NVML_ERROR_NOT_FOUND);
  ASSERT_EQ(tool("process add 0 300 500"), 0);
  ASSERT_EQ(tool("process add 0 301 500"), 0);
  ASSERT_EQ(tool("gpu 0 load 90"), 0);
  EXPECT_EQ(samples(0).code(), NVML_ERROR_INSUFFICIENT_SIZE);
  const auto both = samples(2);
  ASSERT_TRUE(both.ok());
  EXPECT_EQ((*both)[0].pid, 300U);
  EXPECT_EQ((*both)[0].smUtil, 45U);
}

TEST_F(SimLibrary, IsMadeAgainOnlyWhenItsOriginIsAnother) {
  make("h100x2");
  const slipway::testing::TempDir first;
  std::filesystem::copy(folder_.at("machine"), first.at("machine"));
  ASSERT_EQ(tool("gpu 1 mig on"), 0);
  nvml_->release();
  setenv("SLIPWAY_SIM_FIRST", first.at("machine").c_str(), 1);
  ASSERT_TRUE(nvml_->reopen().ok());
  EXPECT_TRUE(nvml::mig_mode(*nvml_, gpu(1))->current);  // its state remains
  unsetenv("SLIPWAY_SIM_FIRST");
}

TEST(SimProfiles, MakeAMachineEachAndRefuseSettingsThatMakeNoSense) {
  for (const std::string& name : sim_profile_names({SIM_PROFILES})) {
    const auto profile = read_sim_profile(name, {SIM_PROFILES});
    ASSERT_TRUE(profile.ok()) << to_text(profile.error());
    const auto machine = make_sim_machine(*profile, {SIM_PROFILES});
    EXPECT_TRUE(machine.ok()) << name << ": " << to_text(machine.error());
  }
  for (const char* bad : {"l4x1,vgpu=550", "l4x1,vgpu=550.54.16.99/r550_40", "h100x8,mig=9g.1gb", "t4x4,mig=on",
                          "h100x8,colour=red", "h100x8,driver=new"}) {
    const auto profile = read_sim_profile(bad, {SIM_PROFILES});
    ASSERT_TRUE(profile.ok());
    EXPECT_FALSE(make_sim_machine(*profile, {SIM_PROFILES}).ok()) << bad;
  }
}

TEST(SimLinks, LeadBackFromWhereTheyLead) {
  for (const char* name : {"v100x8", "v100x5", "v100x1", "h100x8"}) {
    const auto machine = make_sim_machine(*read_sim_profile(name, {SIM_PROFILES}), {SIM_PROFILES});
    ASSERT_TRUE(machine.ok()) << to_text(machine.error());
    const auto links = [&](unsigned from, int to) {
      const sim::Gpu& gpu = (*machine)->gpus[from];
      return std::count(gpu.link_peers, gpu.link_peers + gpu.model.links, to);
    };
    for (unsigned i = 0; i < (*machine)->gpu_count; ++i) {
      EXPECT_EQ(links(i, static_cast<int>(i)), 0);
      EXPECT_EQ(links(i, sim::kSwitch), *name == 'h' ? 18 : 0) << name;
      for (unsigned k = 0; k < (*machine)->gpu_count; ++k)
        EXPECT_EQ(links(i, static_cast<int>(k)), links(k, static_cast<int>(i))) << name;
    }
  }
}

TEST(SimLinks, AreNoMoreThanTheModelHas) {
  auto profile = *read_sim_profile("v100x8", {SIM_PROFILES});
  profile.links.push_back({0, 7, 1});
  const auto machine = make_sim_machine(profile, {SIM_PROFILES});
  ASSERT_FALSE(machine.ok());
  EXPECT_EQ(machine.error().what, "GPU 0 has only 6 NVLinks");
}

}  // namespace
}  // namespace slipway::sim
