// SPDX-License-Identifier: Apache-2.0
// The events of the simulated NVML, and that waiting callers sleep.
#include <array>
#include <atomic>
#include <csignal>
#include <thread>

#include <gmock/gmock.h>
#include <malloc.h>
#include <pthread.h>
#include <sys/resource.h>

#include "nvidia/nvml/abi/mig.h"
#include "tests/unit/sim/direct_library.hpp"
#include "tests/unit/sim/sim_fixture.hpp"

namespace slipway::sim {
namespace {

using ::testing::ElementsAre;

constexpr unsigned kMinuteMs = 60000;

class SimEvents : public SimTest {
 protected:
  void open(const std::string& profile) {
    make(profile);
    ASSERT_EQ(library_.call("nvmlInit_v2"), NVML_SUCCESS);
  }
  void TearDown() override {
    for (const nvmlEventSet_t set : sets_) library_.call("nvmlEventSetFree", set);
    for (const nvmlSystemEventSet_t set : system_sets_) {
      nvmlSystemEventSetFreeRequest_t request{.version = NVML_SYSTEM_EVENT_SET_FREE_REQUEST_VERSION, .set = set};
      library_.call("nvmlSystemEventSetFree", &request);
    }
    library_.call("nvmlShutdown");
  }

  unsigned long long supported(unsigned gpu) {
    unsigned long long types = 0;
    EXPECT_EQ(library_.call("nvmlDeviceGetSupportedEventTypes", library_.gpu(gpu), &types), NVML_SUCCESS);
    return types;
  }

  /// Returns a set that is registered for all events of the first GPUs.
  nvmlEventSet_t set_of(unsigned gpus) {
    nvmlEventSet_t set = nullptr;
    EXPECT_EQ(library_.call("nvmlEventSetCreate", &set), NVML_SUCCESS);
    sets_.push_back(set);
    for (unsigned i = 0; i < gpus; ++i)
      EXPECT_EQ(library_.call("nvmlDeviceRegisterEvents", library_.gpu(i), supported(i), set), NVML_SUCCESS);
    return set;
  }

  nvmlReturn_t wait(nvmlEventSet_t set, nvmlEventData_t& data, unsigned milliseconds) {
    return library_.call("nvmlEventSetWait_v2", set, &data, milliseconds);
  }

  /// Returns "TYPE:DATA" of all waiting events.
  std::vector<std::string> told(nvmlEventSet_t set) {
    std::vector<std::string> events;
    nvmlEventData_t data{};
    while (wait(set, data, 0) == NVML_SUCCESS)
      events.push_back(std::to_string(data.eventType) + ":" + std::to_string(data.eventData));
    return events;
  }

  nvmlSystemEventSet_t system_set() {
    nvmlSystemEventSetCreateRequest_t made{.version = NVML_SYSTEM_EVENT_SET_CREATE_REQUEST_VERSION, .set = nullptr};
    EXPECT_EQ(library_.call("nvmlSystemEventSetCreate", &made), NVML_SUCCESS);
    system_sets_.push_back(made.set);
    nvmlSystemRegisterEventRequest_t registered{
        .version = NVML_SYSTEM_REGISTER_EVENT_REQUEST_VERSION,
        .eventTypes = NVML_SYSTEM_EVENT_GPU_DRIVER_UNBIND | NVML_SYSTEM_EVENT_GPU_DRIVER_BIND,
        .set = made.set};
    EXPECT_EQ(library_.call("nvmlSystemRegisterEvents", &registered), NVML_SUCCESS);
    return made.set;
  }

  nvmlReturn_t wait(nvmlSystemEventSet_t set, unsigned milliseconds) {
    system_data_.fill({});
    system_request_ = {.version = NVML_SYSTEM_EVENT_SET_WAIT_REQUEST_VERSION,
                       .timeoutms = milliseconds,
                       .set = set,
                       .data = system_data_.data(),
                       .dataSize = static_cast<unsigned>(system_data_.size()),
                       .numEvent = 0};
    return library_.call("nvmlSystemEventSetWait", &system_request_);
  }

  DirectLibrary library_;
  std::array<nvmlSystemEventData_v1_t, 4> system_data_{};
  nvmlSystemEventSetWaitRequest_t system_request_{};
  std::vector<nvmlEventSet_t> sets_;  ///< freed at the end, like the next
  std::vector<nvmlSystemEventSet_t> system_sets_;
};

long times_slept() {
  rusage use{};
  getrusage(RUSAGE_THREAD, &use);
  return use.ru_nvcsw;
}

// Before the fix, a wait of five seconds woke up a thousand times.
TEST_F(SimEvents, AreWaitedForAsleep) {
  constexpr unsigned kWaitMs = 500;
  constexpr long kOfASleepInSteps = 20;  // in steps of 5 ms it would be 100
  open("h100x8,driver=580.159.04");
  const nvmlEventSet_t set = set_of(8);
  const long before = times_slept();
  nvmlEventData_t data{};
  EXPECT_EQ(wait(set, data, kWaitMs), NVML_ERROR_TIMEOUT);
  EXPECT_EQ(wait(system_set(), kWaitMs), NVML_ERROR_TIMEOUT);
  EXPECT_LT(times_slept() - before, kOfASleepInSteps);
}

TEST_F(SimEvents, WakeWaitersInAnotherProcess) {
  open("h100x2,driver=580.159.04");
  const nvmlEventSet_t set = set_of(2);
  nvmlReturn_t code = NVML_ERROR_TIMEOUT;
  nvmlEventData_t data{};
  std::thread waiter([&] { code = wait(set, data, kMinuteMs); });
  EXPECT_EQ(tool("gpu 1 xid 79"), 0);
  waiter.join();
  EXPECT_EQ(code, NVML_SUCCESS);
  EXPECT_EQ(data.eventData, 79U);
  EXPECT_EQ(data.device, library_.gpu(1));
}

// NVML's documentation: the wait may return early "when an interrupt arrives".
TEST_F(SimEvents, AreNoLongerWaitedForAfterASignal) {
  open("h100x1");
  struct sigaction ignored {};
  ignored.sa_handler = [](int) {};
  sigaction(SIGURG, &ignored, nullptr);
  const nvmlEventSet_t set = set_of(1);
  std::atomic<bool> ended = false;
  nvmlReturn_t code = NVML_SUCCESS;
  std::thread waiter([&] {
    nvmlEventData_t data{};
    code = wait(set, data, kMinuteMs);
    ended = true;
  });
  while (!ended) {  // a signal that arrives before the wait does not end it
    pthread_kill(waiter.native_handle(), SIGURG);
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  waiter.join();
  EXPECT_EQ(code, NVML_ERROR_TIMEOUT);
}

TEST_F(SimEvents, WakeWaitersWhenTheirGpuIsLostOrTheDriverIsUnloaded) {
  open("h100x2,driver=535.261.03");
  const nvmlEventSet_t set = set_of(1);
  nvmlEventData_t data{};
  nvmlReturn_t code = NVML_ERROR_TIMEOUT;
  std::thread first([&] { code = wait(set, data, kMinuteMs); });
  EXPECT_EQ(tool("gpu 0 lost"), 0);
  first.join();
  EXPECT_EQ(code, NVML_ERROR_GPU_IS_LOST);
  EXPECT_EQ(tool("gpu 0 found"), 0);
  std::thread second([&] { code = wait(set, data, kMinuteMs); });
  EXPECT_EQ(tool("driver unloaded"), 0);
  second.join();
  EXPECT_THAT(code, ::testing::AnyOf(NVML_ERROR_UNKNOWN, NVML_ERROR_UNINITIALIZED));
}

// Before the fix, a set of the system was kept forever.
TEST_F(SimEvents, SetsAreFreedWhetherTheDriverAnswersOrNot) {
  open("h100x1,driver=580.159.04");
  constexpr std::size_t kSets = 1000;
  std::vector<nvmlSystemEventSet_t> of_system;
  std::vector<nvmlEventSet_t> of_gpus(kSets);
  for (nvmlEventSet_t& set : of_gpus) ASSERT_EQ(library_.call("nvmlEventSetCreate", &set), NVML_SUCCESS);
  for (std::size_t i = 0; i < kSets; ++i) of_system.push_back(system_set());
  system_sets_.clear();
  ASSERT_EQ(tool("driver unloaded"), 0);
  const std::size_t before = mallinfo2().uordblks;
  for (const nvmlEventSet_t set : of_gpus) EXPECT_NE(library_.call("nvmlEventSetFree", set), NVML_SUCCESS);
  const std::size_t between = mallinfo2().uordblks;
  for (const nvmlSystemEventSet_t set : of_system) {
    nvmlSystemEventSetFreeRequest_t request{.version = NVML_SYSTEM_EVENT_SET_FREE_REQUEST_VERSION, .set = set};
    EXPECT_NE(library_.call("nvmlSystemEventSetFree", &request), NVML_SUCCESS);
  }
  const std::size_t after = mallinfo2().uordblks;
  if (before == 0) return;  // a sanitizer counts memory itself, and reports unfreed memory
  EXPECT_GE(before, between + kSets * sizeof(long long));
  EXPECT_GE(between, after + kSets * sizeof(long long));
}

TEST_F(SimEvents, AreThoseOfTheDriversBranch) {
  open("h100x1,driver=580.159.04");
  EXPECT_EQ(supported(0), 0xff9fU);  // like a real driver
  ASSERT_EQ(tool("driver 565.57.01"), 0);
  EXPECT_EQ(supported(0), 0x3f9fU);
  ASSERT_EQ(tool("driver 535.261.03"), 0);
  EXPECT_EQ(supported(0), 0x19fU);
  nvmlEventSet_t set = nullptr;
  ASSERT_EQ(library_.call("nvmlEventSetCreate", &set), NVML_SUCCESS);
  sets_.push_back(set);
  EXPECT_EQ(library_.call("nvmlDeviceRegisterEvents", library_.gpu(0),
                          static_cast<unsigned long long>(NVML_EVENT_GPU_RECOVERY_ACTION), set),
            NVML_ERROR_NOT_SUPPORTED);
}

TEST_F(SimEvents, ReportAGpuThatIsUnavailableAndOfWhatWouldRecoverIt) {
  open("h100x2,driver=580.159.04");
  const nvmlEventSet_t set = set_of(2);
  ASSERT_EQ(tool("gpu 1 recovery 2"), 0);
  ASSERT_EQ(tool("gpu 1 recovery 2"), 0);  // no change
  ASSERT_EQ(tool("gpu 1 lost"), 0);
  EXPECT_THAT(told(set), ElementsAre("32768:2", "16384:79"));
  ASSERT_EQ(tool("gpu 1 reset"), 0);
  EXPECT_THAT(told(set), ElementsAre("32768:0"));
  // An older driver does not have such events, and only reports that the GPU is lost.
  ASSERT_EQ(tool("driver 535.261.03"), 0);
  const nvmlEventSet_t older = set_of(2);
  ASSERT_EQ(tool("gpu 1 recovery 2"), 0);
  EXPECT_THAT(told(older), ElementsAre());
}

TEST_F(SimEvents, ReportEachChangeOfMig) {
  open("h100x1,driver=535.261.03");
  const nvmlEventSet_t set = set_of(1);
  const nvmlDevice_t gpu = library_.gpu(0);
  nvmlReturn_t activated = NVML_ERROR_UNKNOWN;
  ASSERT_EQ(library_.call("nvmlDeviceSetMigMode", gpu, 1U, &activated), NVML_SUCCESS);
  EXPECT_THAT(told(set), ElementsAre("256:0"));
  nvmlGpuInstance_t instance = nullptr;
  ASSERT_EQ(library_.call("nvmlDeviceCreateGpuInstance", gpu, 0U, &instance), NVML_SUCCESS);
  EXPECT_THAT(told(set), ElementsAre("256:0"));
  ASSERT_EQ(library_.call("nvmlGpuInstanceDestroy", instance), NVML_SUCCESS);
  EXPECT_THAT(told(set), ElementsAre("256:0"));
  ASSERT_EQ(tool("gpu 0 mig off"), 0);
  EXPECT_THAT(told(set), ElementsAre("256:0"));
}

TEST_F(SimEvents, OfTheSystemTellThatADriverIsBoundToAGpuAndUnbound) {
  open("h100x2,driver=580.159.04");
  const nvmlSystemEventSet_t set = system_set();
  EXPECT_EQ(wait(set, 0), NVML_ERROR_TIMEOUT);
  ASSERT_EQ(tool("gpu 1 remove"), 0);
  ASSERT_EQ(tool("gpu 1 restore"), 0);
  ASSERT_EQ(wait(set, 0), NVML_SUCCESS);
  ASSERT_EQ(system_request_.numEvent, 2U);
  EXPECT_EQ(system_data_[0].eventType, NVML_SYSTEM_EVENT_GPU_DRIVER_UNBIND);
  EXPECT_EQ(system_data_[0].gpuId, 0x2a00U);
  EXPECT_EQ(system_data_[1].eventType, NVML_SYSTEM_EVENT_GPU_DRIVER_BIND);
  nvmlReturn_t code = NVML_ERROR_TIMEOUT;
  std::thread waiter([&] { code = wait(set, kMinuteMs); });
  EXPECT_EQ(tool("gpu 0 remove"), 0);
  waiter.join();
  EXPECT_EQ(code, NVML_SUCCESS);
  EXPECT_EQ(system_data_[0].gpuId, 0x1800U);
}

TEST_F(SimEvents, OfTheSystemAreNewerThanManyDrivers) {
  open("h100x1,driver=570.133.20");
  nvmlSystemEventSetCreateRequest_t made{.version = NVML_SYSTEM_EVENT_SET_CREATE_REQUEST_VERSION, .set = nullptr};
  EXPECT_EQ(library_.call("nvmlSystemEventSetCreate", &made), NVML_ERROR_FUNCTION_NOT_FOUND);
  ASSERT_EQ(tool("driver 580.159.04"), 0);
  made.version = 1;
  EXPECT_EQ(library_.call("nvmlSystemEventSetCreate", &made), NVML_ERROR_ARGUMENT_VERSION_MISMATCH);
}

// Before the fix, a call about a hanging GPU checked fifty times a second whether it may go on.
TEST_F(SimEvents, LetAHangingCallSleepToo) {
  constexpr long kOfASleepInSteps = 10;
  open("h100x1");
  const nvmlDevice_t gpu = library_.gpu(0);
  ASSERT_EQ(tool("gpu 0 hang"), 0);
  long slept = 0;
  nvmlReturn_t code = NVML_ERROR_UNKNOWN;
  std::thread caller([&] {
    unsigned index = 0;
    code = library_.call("nvmlDeviceGetIndex", gpu, &index);
    slept = times_slept();
  });
  std::this_thread::sleep_for(std::chrono::milliseconds(500));
  EXPECT_EQ(tool("gpu 0 resume"), 0);
  caller.join();
  EXPECT_EQ(code, NVML_SUCCESS);
  EXPECT_LT(slept, kOfASleepInSteps);
}

}  // namespace
}  // namespace slipway::sim
