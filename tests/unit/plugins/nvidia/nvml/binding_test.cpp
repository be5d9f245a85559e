// SPDX-License-Identifier: Apache-2.0
#include <chrono>
#include <filesystem>
#include <fstream>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <slipway/testing/fake_host.hpp>
#include <slipway/testing/temp_dir.hpp>

#include "gfd/labels/fabric.hpp"
#include "nvidia/nvml/device.hpp"
#include "nvidia/nvml/event.hpp"
#include "nvidia/nvml/mig.hpp"
#include "nvidia/nvml/system.hpp"

namespace slipway::nvidia::nvml {
namespace {

using ::testing::HasSubstr;

std::unique_ptr<Nvml> open_mock(const char* file, std::chrono::milliseconds limit = std::chrono::seconds(5)) {
  auto nvml = Nvml::open({.library = {.named = file}, .call_limit = limit});
  EXPECT_TRUE(nvml.ok()) << to_text(nvml.error());
  return nvml ? std::move(*nvml) : nullptr;
}

TEST(NvmlErrors, CarryNvmlsOwnNameAndNumber) {
  const Error error = to_error(NVML_ERROR_IN_USE, "GPU 3 (0000:65:00.0)");
  EXPECT_EQ(error.what, "nvml: GPU 3 (0000:65:00.0): the device is in use (NVML_ERROR_IN_USE, 19)");
  EXPECT_EQ(error.code, ErrorCode::busy);
}

TEST(NvmlErrors, PassOnUnknownNumbers) {
  EXPECT_EQ(error_name(77), "NVML_ERROR_77");
  EXPECT_THAT(error_text(77), HasSubstr("77"));
}

TEST(NvmlLibrary, SaysWhereItLookedWhenThereIsNone) {
  const slipway::testing::FakeHost host;
  const auto nvml = Nvml::open({.library = {.driver_root = host.root().string()}});
  ASSERT_FALSE(nvml.ok());
  EXPECT_EQ(nvml.error().code, ErrorCode::not_found);
  EXPECT_THAT(to_text(nvml.error()), HasSubstr("usr/lib/x86_64-linux-gnu/libnvidia-ml.so.1"));
}

TEST(NvmlLibrary, NamesAFileThatIsNotALibrary) {
  slipway::testing::FakeHost host;
  host.file("/usr/lib64/libnvidia-ml.so.1", "not an ELF file");
  const auto nvml = Nvml::open({.library = {.driver_root = host.root().string()}});
  ASSERT_FALSE(nvml.ok());
  EXPECT_EQ(nvml.error().code, ErrorCode::invalid);
  EXPECT_THAT(nvml.error().what, HasSubstr("cannot be loaded"));
}

TEST(NvmlLibrary, ThatNeedsANewerCLibraryIsNamedAsSuch) {
  const auto nvml = Nvml::open({.library = {.named = NEEDS_FUTURE}});
  ASSERT_FALSE(nvml.ok());
  EXPECT_THAT(nvml.error().what, HasSubstr("GLIBC_9.99"));
  EXPECT_THAT(nvml.error().next, HasSubstr("a newer C library than slipway runs with"));
}

TEST(NvmlLibrary, IsFoundThroughTheLinksOfADriverRoot) {
  slipway::testing::FakeHost host;
  host.link("/usr/lib64/libnvidia-ml.so.1", MOCK_SMALL);
  auto nvml = Nvml::open({.library = {.driver_root = host.root().string()}});
  ASSERT_TRUE(nvml.ok()) << to_text(nvml.error());
  EXPECT_EQ((*nvml)->library_path(), std::filesystem::canonical(MOCK_SMALL).string());
}

// Before the fix, only SLIPWAY_NVML was checked: with a driver root in another user's folder, root loaded files that
// this user had written.
TEST(NvmlLibrary, OfADriverRootIsRefusedWhereAnotherUserCouldReplaceIt) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root gives files away";
  slipway::testing::FakeHost host;
  host.file("/usr/lib64/libnvidia-ml.so.1", "");
  const std::string library = host.root().string() + "/usr/lib64/libnvidia-ml.so.1";
  std::filesystem::copy_file(MOCK_SMALL, library, std::filesystem::copy_options::overwrite_existing);
  const LibraryChoice choice{.driver_root = host.root().string()};
  ASSERT_TRUE(Library::open(choice));
  for (const std::string& place : {library, host.root().string() + "/usr", host.root().string()}) {
    ASSERT_EQ(::chown(place.c_str(), 65534, 0), 0);
    const auto refused = Library::open(choice);
    ASSERT_FALSE(refused) << place;
    EXPECT_EQ(refused.error().code, ErrorCode::denied) << place;
    ASSERT_EQ(::chown(place.c_str(), 0, 0), 0);
  }
}

TEST(NvmlLibrary, IsNeverTakenFromARootThatIsNotLive) {
  ASSERT_EQ(unsetenv("SLIPWAY_NVML"), 0);
  slipway::testing::FakeHost host;
  const auto choice = choose_library(host);
  ASSERT_FALSE(choice.ok());
  EXPECT_EQ(choice.error().code, ErrorCode::offline);
}

TEST(NvmlLibrary, OfALiveHostLiesBelowItsDriverRoot) {
  ASSERT_EQ(unsetenv("SLIPWAY_NVML"), 0);
  slipway::testing::FakeHost host;
  host.live("6.1.0-50-amd64");
  const auto choice = choose_library(host, "/run/nvidia/driver");
  ASSERT_TRUE(choice.ok());
  EXPECT_EQ(choice->driver_root, host.root().string() + "/run/nvidia/driver");
}

TEST(NvmlLibrary, OfTheEnvironmentComesBeforeAllOthers) {
  const slipway::testing::FakeHost host;
  ASSERT_EQ(setenv("SLIPWAY_NVML", MOCK_SMALL, 1), 0);
  const auto choice = choose_library(host);
  unsetenv("SLIPWAY_NVML");
  ASSERT_TRUE(choice.ok());
  EXPECT_EQ(choice->named, std::filesystem::canonical(MOCK_SMALL).string());
}

// Before the fix, the owner of the library was checked only on the live machine.
TEST(NvmlLibrary, OfTheEnvironmentIsRefusedWhereAnotherUserCouldReplaceIt) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root gives files away";
  const slipway::testing::TempDir folder;
  std::filesystem::copy_file(MOCK_SMALL, folder.at("nvml.so"));
  slipway::testing::FakeHost host;
  for (const bool live : {false, true}) {
    if (live) host.live("6.1.0-50-amd64");
    ASSERT_EQ(setenv("SLIPWAY_NVML", folder.at("nvml.so").c_str(), 1), 0);
    ASSERT_EQ(::chown(folder.path().c_str(), 0, 0), 0);
    EXPECT_TRUE(choose_library(host).ok()) << "root's own";
    ASSERT_EQ(::chown(folder.path().c_str(), 1000, 1000), 0);
    const auto choice = choose_library(host);
    unsetenv("SLIPWAY_NVML");
    ASSERT_FALSE(choice.ok()) << "live: " << live;
    EXPECT_EQ(choice.error().code, ErrorCode::denied);
    EXPECT_THAT(choice.error().what, HasSubstr("SLIPWAY_NVML=" + folder.at("nvml.so").string()));
    EXPECT_THAT(choice.error().what, HasSubstr("belongs to user 1000"));
  }
}

TEST(NvmlBinding, OfALibraryWithoutAnyFunctionFailsByName) {
  const auto nvml = Nvml::open({.library = {.named = MOCK_EMPTY}});
  ASSERT_FALSE(nvml.ok());
  EXPECT_THAT(nvml.error().what, HasSubstr("NVML_ERROR_FUNCTION_NOT_FOUND, 13"));
}

TEST(NvmlBinding, FallsBackToFunctionsWithoutASuffix) {
  const auto nvml = open_mock(MOCK_SMALL);
  ASSERT_NE(nvml, nullptr);
  EXPECT_EQ(device_count(*nvml).value_or(0), 1U);
  const auto device = device_at(*nvml, 0);
  ASSERT_TRUE(device.ok());
  EXPECT_EQ(device_name(*nvml, *device).value_or(""), "Mock GPU");
  EXPECT_EQ(device_at(*nvml, 1).code(), NVML_ERROR_INVALID_ARGUMENT);
}

TEST(NvmlBinding, CallsEveryMissingFunctionAbsentAndCrashesInNone) {
  const auto nvml = open_mock(MOCK_SMALL);
  ASSERT_NE(nvml, nullptr);
  const auto device = *device_at(*nvml, 0);
  EXPECT_TRUE(driver_version(*nvml).absent());
  EXPECT_TRUE(cuda_version(*nvml).absent());
  EXPECT_TRUE(device_uuid(*nvml, device).absent());
  EXPECT_TRUE(device_pci(*nvml, device).absent());
  EXPECT_TRUE(memory(*nvml, device).absent());
  EXPECT_TRUE(memory_total(*nvml, device).absent());
  EXPECT_TRUE(mig_mode(*nvml, device).absent());
  EXPECT_TRUE(gfd::fabric(*nvml, device).absent());
  EXPECT_TRUE(processes(*nvml, device, ProcessKind::compute).absent());
  EXPECT_TRUE(EventSet::create(*nvml).absent());
  EXPECT_TRUE(field_values(*nvml, device, {91}).absent());
  EXPECT_TRUE(gpu_instance_profiles(*nvml, device).value_or({{}}).empty());
  EXPECT_TRUE(mig_devices(*nvml, device).value_or({nullptr}).empty());
}

TEST(NvmlBinding, ReadsTheOldLayoutsOfOldFunctions) {
  const auto nvml = open_mock(MOCK_OLD);
  ASSERT_NE(nvml, nullptr);
  const auto device = *device_at(*nvml, 0);
  const auto list = processes(*nvml, device, ProcessKind::compute);
  ASSERT_TRUE(list.ok());
  ASSERT_EQ(list->size(), 40U);  // more than the first call requested
  EXPECT_EQ(list->back().pid, 139U);
  EXPECT_FALSE(list->back().memory_bytes.has_value());
  EXPECT_FALSE(list->back().gpu_instance.has_value());
  EXPECT_EQ(memory(*nvml, device)->used, 400U);
}

TEST(NvmlBinding, CanBeReleasedAndOpenedAgain) {
  const auto nvml = open_mock(MOCK_SMALL);
  ASSERT_NE(nvml, nullptr);
  nvml->release();
  nvml->release();
  EXPECT_FALSE(nvml->is_open());
  EXPECT_EQ(device_count(*nvml).code(), NVML_ERROR_UNINITIALIZED);
  ASSERT_TRUE(nvml->reopen().ok());
  EXPECT_EQ(device_count(*nvml).value_or(0), 1U);
}

TEST(NvmlBinding, GivesUpACallThatHangsAndAnswersTheNext) {
  const auto nvml = open_mock(MOCK_HANG, std::chrono::seconds(1));
  ASSERT_NE(nvml, nullptr);
  const auto device = *device_at(*nvml, 0);
  const auto begin = std::chrono::steady_clock::now();
  const auto name = device_name(*nvml, device);
  EXPECT_EQ(name.code(), kGaveUp);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(20));
  EXPECT_EQ(name.error("GPU 0").code, ErrorCode::timed_out);
  EXPECT_EQ(nvml->stuck(), 1U);
  EXPECT_EQ(device_count(*nvml).value_or(0), 1U);
}

// Before the fix, the device plugin asked 600 questions at its start, each with two changes of threads: half of its
// start time.
TEST(NvmlBinding, AsksTogetherOnOneOtherThreadWithoutStartingNvmlAgain) {
  const auto nvml = open_mock(MOCK_SMALL);
  ASSERT_NE(nvml, nullptr);
  using Threads = std::vector<std::thread::id>;
  const auto threads = nvml->ask_together<Threads>([](Nvml& inside, Threads& seen) {
    for (int i = 0; i < 2; ++i) {
      const auto one = inside.ask<std::thread::id>([](const Library&, std::thread::id& id) {
        id = std::this_thread::get_id();
        return NVML_SUCCESS;
      });
      seen.push_back(*one);
    }
    return device_count(inside).code();
  });
  ASSERT_TRUE(threads.ok()) << error_text(threads.code());
  ASSERT_EQ(threads->size(), 2U);
  EXPECT_EQ(threads->front(), threads->back());
  EXPECT_NE(threads->front(), std::this_thread::get_id());
  EXPECT_EQ(device_count(*nvml).value_or(0), 1U) << "it was not shut down by the one inside";
}

TEST(NvmlBinding, GivesUpQuestionsAskedTogetherWhenOneHangs) {
  const auto nvml = open_mock(MOCK_HANG, std::chrono::seconds(1));
  ASSERT_NE(nvml, nullptr);
  const auto name = nvml->ask_together<std::string>([](Nvml& inside, std::string& value) {
    const auto device = device_at(inside, 0);
    const auto answer = device_name(inside, *device);
    value = answer.value();
    return answer.code();
  });
  EXPECT_EQ(name.code(), kGaveUp);
  EXPECT_EQ(nvml->stuck(), 1U);
  EXPECT_EQ(nvml->ask_together<int>([](Nvml&, int&) { return NVML_ERROR_IN_USE; }).code(), NVML_ERROR_IN_USE);
}

TEST(NvmlBinding, StopsStartingThreadsWhenTooManyHang) {
  const auto nvml = open_mock(MOCK_HANG, std::chrono::milliseconds(500));
  ASSERT_NE(nvml, nullptr);
  const auto device = *device_at(*nvml, 0);
  for (unsigned i = 0; i < CallThread::kMaxStuck + 3; ++i) EXPECT_EQ(device_name(*nvml, device).code(), kGaveUp);
  EXPECT_EQ(nvml->stuck(), CallThread::kMaxStuck);
  nvml->release();  // returns although they all still hang
  EXPECT_FALSE(nvml->is_open());
}

TEST(CallThread, ForgetsAHangWhenTheCallReturns) {
  CallThread thread;
  auto open = std::make_shared<std::atomic<bool>>(false);
  EXPECT_FALSE(thread.run([open] { open->wait(false); }, std::chrono::milliseconds(20)));
  EXPECT_EQ(thread.stuck(), 1U);
  *open = true;
  open->notify_all();
  for (int i = 0; i < 500 && thread.stuck() > 0; ++i) std::this_thread::sleep_for(std::chrono::milliseconds(10));
  EXPECT_EQ(thread.stuck(), 0U);
}

TEST(NvmlDevices, HaveTheAddressThatSysfsUses) {
  EXPECT_EQ(sysfs_address("00000000:07:00.0"), "0000:07:00.0");
  EXPECT_EQ(sysfs_address("00000009:01:00.0"), "0009:01:00.0");
  EXPECT_EQ(sysfs_address("0000:AB:00.0"), "0000:ab:00.0");
  EXPECT_EQ(sysfs_address("00010000:AB:00.0"), "00010000:ab:00.0");
}

}  // namespace
}  // namespace slipway::nvidia::nvml
