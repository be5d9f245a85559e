// SPDX-License-Identifier: Apache-2.0
#include "nvidia/nvml/event_watch.hpp"

#include <atomic>
#include <thread>

#include <dlfcn.h>
#include <gmock/gmock.h>
#include <poll.h>

namespace slipway::nvidia::nvml {
namespace {

using ::testing::IsEmpty;
using ::testing::SizeIs;

class EventWatchTest : public ::testing::Test {
 protected:
  void SetUp() override {
    auto opened = Nvml::open({.library = {.named = MOCK_EVENTS}, .call_limit = std::chrono::seconds(5)});
    ASSERT_TRUE(opened.ok()) << to_text(opened.error());
    nvml_ = std::move(*opened);
    mock_ = ::dlopen(MOCK_EVENTS, RTLD_NOW | RTLD_NOLOAD);
    ASSERT_NE(mock_, nullptr);
  }
  void TearDown() override {
    watch_.reset();
    nvml_.reset();
    if (mock_ != nullptr) ::dlclose(mock_);
  }
  template <class... Arguments>
  auto mock(const char* name) const {
    return reinterpret_cast<int (*)(Arguments...)>(::dlsym(mock_, name));
  }
  int waits() const { return mock<>("mock_waits")(); }
  void send(nvmlReturn_t code, unsigned long long type, unsigned long long data) const {
    mock<int, unsigned long long, unsigned long long>("mock_send")(code, type, data);
  }
  void watch_gpus() {
    const auto set = EventSet::create(*nvml_);
    ASSERT_TRUE(set.ok());
    watch_ = EventWatch::of_gpus(*nvml_, *set);
  }
  template <class Condition>
  static bool soon(const Condition& holds) {
    for (int i = 0; i < 4000 && !holds(); ++i) std::this_thread::sleep_for(std::chrono::milliseconds(5));
    return holds();
  }
  bool tells() const {
    pollfd wanted{watch_->fd(), POLLIN, 0};
    return ::poll(&wanted, 1, 20'000) == 1;
  }

  std::unique_ptr<Nvml> nvml_;
  std::shared_ptr<EventWatch> watch_;
  void* mock_ = nullptr;
};

TEST_F(EventWatchTest, ReportsAnEventByItsDescriptorAndWaitsForTheNext) {
  watch_gpus();
  send(NVML_SUCCESS, NVML_EVENT_XID_CRITICAL_ERROR, 79);
  ASSERT_TRUE(tells());
  const SeenEvents seen = watch_->take();
  ASSERT_THAT(seen.of_gpus, SizeIs(1));
  EXPECT_EQ(seen.of_gpus[0].eventType, NVML_EVENT_XID_CRITICAL_ERROR);
  EXPECT_EQ(seen.of_gpus[0].eventData, 79U);
  EXPECT_EQ(seen.ended, NVML_SUCCESS);
  EXPECT_THAT(watch_->take().of_gpus, IsEmpty()) << "taken already";
  send(NVML_SUCCESS, NVML_EVENT_MIG_CONFIG_CHANGE, 0);
  EXPECT_TRUE(tells());
}

TEST_F(EventWatchTest, WaitsOnceForEachEvent) {
  watch_gpus();
  ASSERT_TRUE(soon([&] { return waits() == 1; }));
  for (int i = 0; i < 10; ++i) send(NVML_SUCCESS, NVML_EVENT_XID_CRITICAL_ERROR, 31);
  EXPECT_TRUE(soon([&] { return waits() == 11; }));
  EXPECT_THAT(watch_->take().of_gpus, SizeIs(10));
}

// The code that quiesces a service waits for the watch: it must not wait for the rest of a slice.
TEST_F(EventWatchTest, EndsByInterruptingItsWait) {
  watch_gpus();
  ASSERT_TRUE(soon([&] { return waits() == 1; }));
  watch_.reset();
  EXPECT_GE(mock<>("mock_interrupted")(), 1);
  EXPECT_EQ(waits(), 1);
  EXPECT_EQ(mock<>("mock_freed")(), 1);
  EXPECT_EQ(nvml_->stuck(), 0U);
}

TEST_F(EventWatchTest, EndsWithTheSliceWhereTheDriverIgnoresSignals) {
  mock<int>("mock_set_deaf")(1);
  watch_gpus();
  ASSERT_TRUE(soon([&] { return waits() == 1; }));
  watch_.reset();
  EXPECT_EQ(mock<>("mock_freed")(), 1);
  EXPECT_EQ(nvml_->stuck(), 0U);
}

TEST_F(EventWatchTest, EndsWhenAGpuIsLost) {
  watch_gpus();
  send(NVML_ERROR_GPU_IS_LOST, 0, 0);
  ASSERT_TRUE(tells());
  EXPECT_EQ(watch_->take().ended, NVML_ERROR_GPU_IS_LOST);
  EXPECT_EQ(watch_->take().ended, NVML_ERROR_GPU_IS_LOST) << "for good";
  EXPECT_TRUE(soon([&] { return mock<>("mock_freed")() == 1; }));
  EXPECT_EQ(waits(), 1);
}

// Programs of pods can make a GPU send any number of events.
TEST_F(EventWatchTest, LeavesAStormInTheDriverUntilItsEventsAreTaken) {
  watch_gpus();
  constexpr std::size_t kSent = 1000;
  for (std::size_t i = 0; i < kSent; ++i) send(NVML_SUCCESS, NVML_EVENT_XID_CRITICAL_ERROR, i);
  std::size_t most = 0;
  std::size_t all = 0;
  EXPECT_TRUE(soon([&] {
    const std::size_t got = watch_->take().of_gpus.size();
    most = std::max(most, got);
    all += got;
    return all == kSent;
  }));
  EXPECT_LE(most, 256U);
}

// A wait that returns at once would make a loop that takes a whole core.
TEST_F(EventWatchTest, DoesNotAskWithoutEndWhereWaitsComeBackAtOnce) {
  mock<int>("mock_set_early")(1);
  watch_gpus();
  ASSERT_TRUE(soon([&] { return waits() >= 3; }));
  const int before = waits();
  std::this_thread::sleep_for(std::chrono::milliseconds(300));
  EXPECT_LE(waits() - before, 30) << "millions, without a pause";
}

TEST_F(EventWatchTest, ReportsWhenADriverIsBoundOrUnbound) {
  watch_ = EventWatch::of_driver(*nvml_).value();
  ASSERT_NE(watch_, nullptr);
  mock<unsigned long long>("mock_send_of_system")(NVML_SYSTEM_EVENT_GPU_DRIVER_BIND);
  ASSERT_TRUE(tells());
  const SeenEvents seen = watch_->take();
  ASSERT_THAT(seen.of_driver, SizeIs(1));
  EXPECT_EQ(seen.of_driver[0].eventType, NVML_SYSTEM_EVENT_GPU_DRIVER_BIND);
  watch_.reset();
  EXPECT_EQ(mock<>("mock_freed")(), 1);
}

TEST(EventWatchOfDriver, IsAbsentInALibraryThatCannotTell) {
  const auto nvml = Nvml::open({.library = {.named = MOCK_SMALL}});
  ASSERT_TRUE(nvml.ok()) << to_text(nvml.error());
  EXPECT_TRUE(EventWatch::of_driver(**nvml).absent());
}

// Before the fix, each GPU that hangs delayed the other GPUs by a whole limit.
TEST(AskEach, GivesUpTheOneThatHangsAndAsksTheOthers) {
  auto opened = Nvml::open({.library = {.named = MOCK_SMALL}, .call_limit = std::chrono::milliseconds(200)});
  ASSERT_TRUE(opened.ok());
  const auto go_on = std::make_shared<std::atomic<bool>>(false);
  const auto answers = (*opened)->ask_each<int>(4, [go_on](Nvml&, std::size_t i, int& value) {
    while (i == 1 && !*go_on) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    value = static_cast<int>(10 * i);
    return i == 2 ? static_cast<nvmlReturn_t>(NVML_ERROR_NOT_SUPPORTED) : static_cast<nvmlReturn_t>(NVML_SUCCESS);
  });
  ASSERT_THAT(answers, SizeIs(4));
  EXPECT_EQ(answers[0].value_or(-1), 0);
  EXPECT_EQ(answers[1].code(), kGaveUp);
  EXPECT_EQ(answers[2].code(), NVML_ERROR_NOT_SUPPORTED);
  EXPECT_EQ(answers[3].value_or(-1), 30);
  EXPECT_EQ((*opened)->stuck(), 1U);
  *go_on = true;
  for (int i = 0; i < 2000 && (*opened)->stuck() > 0; ++i) std::this_thread::sleep_for(std::chrono::milliseconds(5));
  EXPECT_EQ((*opened)->stuck(), 0U);
}

TEST(AskEach, HasASeparateLimitForEach) {
  auto opened = Nvml::open({.library = {.named = MOCK_SMALL}, .call_limit = std::chrono::seconds(2)});
  ASSERT_TRUE(opened.ok());
  const auto answers = (*opened)->ask_each<int>(25, [](Nvml&, std::size_t, int& value) {
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    value = 1;
    return NVML_SUCCESS;
  });
  int all = 0;
  for (const auto& answer : answers) all += answer.value_or(0);
  EXPECT_EQ(all, 25);
}

}  // namespace
}  // namespace slipway::nvidia::nvml
