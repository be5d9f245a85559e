// SPDX-License-Identifier: Apache-2.0
// GPUs that containers share by time-slicing and whose memory is exhausted.
#include "deviceplugin/memory.hpp"

#include <gmock/gmock.h>

#include "deviceplugin/status.hpp"

namespace slipway::deviceplugin {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr std::uint64_t kMiB = std::uint64_t{1} << 20U;

Json client(unsigned pid, std::uint64_t mib, const std::string& pod) {
  return {{"pid", pid}, {"memoryBytes", mib * kMiB}, {"process", "python3"}, {"pod", pod}, {"podContainer", "main"}};
}

/// Returns the status of an 80 GiB GPU shared by four, with that much memory left.
Json status_with(std::uint64_t left_mib, const std::string& sharing = "time-slicing") {
  Json gpu{{"index", 0},
           {"uuid", "GPU-1"},
           {"address", "0000:10:00.0"},
           {"memoryBytes", 81920 * kMiB},
           {"freeBytes", left_mib * kMiB}};
  gpu["clients"] = {client(4711, 70000, "team-a/train-0"), client(4712, 11000, "team-b/infer-1")};
  Json resource{{"name", "nvidia.com/gpu"}, {"sharing", sharing}, {"replicas", {{"GPU-1", 4}}}};
  Json holder{{"pod", "team-c/waits-2"}, {"container", "main"}, {"ids", {"GPU-1::3"}}};
  return {{"gpus", {gpu}}, {"resources", {resource}}, {"holders", {holder}}};
}

TEST(MemoryShortage, NamesTheUsersTheFreeMemoryAndTheRemedy) {
  Findings findings;
  add_memory_findings(status_with(312), findings);
  ASSERT_EQ(findings.list().size(), 1U);
  const Finding& found = findings.list().front();
  EXPECT_EQ(found.status, Finding::Status::fail);
  EXPECT_EQ(
      found.text,
      "GPU 0 (0000:10:00.0), which up to 4 containers share by time-slicing, has 312 of 81920 MiB left: "
      "python3 (pid 4711, pod team-a/train-0, container main) has 70000 MiB, python3 (pid 4712, pod team-b/infer-1, "
      "container main) has 11000 MiB; kubelet gave it to team-c/waits-2");
  EXPECT_THAT(found.remedy, AllOf(HasSubstr("sharing.mps"), HasSubstr("20480 MiB"), HasSubstr("MIG"),
                                  HasSubstr("then only the process that exceeds it would have failed")));
  EXPECT_THAT(status_text(status_with(312)),
              AllOf(HasSubstr("has 312 of 81920 MiB left"), HasSubstr("  do: end the process")));
}

TEST(MemoryShortage, IsNotReportedWithEnoughMemoryOrWithoutTimeSlicing) {
  EXPECT_TRUE(memory_shortages(status_with(9000)).empty());
  EXPECT_TRUE(memory_shortages(status_with(312, "mps")).empty());
  EXPECT_TRUE(memory_shortages(status_with(312, "none")).empty());
  Json untold = status_with(312);
  untold["gpus"][0].erase("freeBytes");
  EXPECT_TRUE(memory_shortages(untold).empty());
  EXPECT_TRUE(memory_shortages(Json::object()).empty());
}

TEST(MemoryShortage, EndsOnlyWithTwiceTheFreeMemory) {
  const auto found = memory_shortages(status_with(5000));
  ASSERT_EQ(found.size(), 1U);
  EXPECT_FALSE(found.front().exhausted);
  EXPECT_THAT(status_text(status_with(5000)), Not(HasSubstr("do:")));
}

TEST(MemoryShortage, OfProcessesThatKeepToTheirShareAsksForFewerReplicas) {
  Json status = status_with(100);
  status["gpus"][0]["clients"] = {client(1, 20000, "a/a"), client(2, 20000, "a/b"), client(3, 20000, "a/c"),
                                  client(4, 20000, "a/d"), client(5, 300, "a/e"),   client(6, 200, "a/f")};
  const auto found = memory_shortages(status);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_THAT(found.front().remedy, HasSubstr("fewer replicas"));
  EXPECT_THAT(found.front().text, HasSubstr("and 2 more"));
}

TEST(MemoryShortage, IsReportedForMigDevicesToo) {
  Json status = status_with(40000);
  status["gpus"][0]["migDevices"] = {
      {{"index", 1}, {"uuid", "MIG-1"}, {"memoryBytes", 4864 * kMiB}, {"freeBytes", 100 * kMiB}}};
  status["resources"][0]["replicas"] = {{"MIG-1", 2}};
  const auto found = memory_shortages(status);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_THAT(found.front().text, HasSubstr("MIG device 1 of GPU 0 (0000:10:00.0), which up to 2 containers"));
}

}  // namespace
}  // namespace slipway::deviceplugin
