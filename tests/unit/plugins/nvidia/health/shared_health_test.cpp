// SPDX-License-Identifier: Apache-2.0
#include "nvidia/health/shared_health.hpp"

#include <filesystem>
#include <fstream>

#include <gmock/gmock.h>
#include <unistd.h>

#include <slipway/testing/temp_dir.hpp>

namespace slipway::nvidia::health {
namespace {

using std::chrono::seconds;

class Shared : public ::testing::Test {
 protected:
  HealthOfGpus with(Fault fault, std::vector<EndedFaults> ended = {}) const {
    return {{"GPU-3", {.name = "GPU 3 (0000:5d:00.0)", .faults = {std::move(fault)}, .ended = std::move(ended)}}};
  }
  Fault xid(unsigned number, Moment last) const {
    return {
        .code = "xid-" + std::to_string(number), .severity = Severity::fatal, .text = "t", .xid = number, .last = last};
  }
  std::string file() const { return folder_.at("run/slipway/health.json").string(); }

  slipway::testing::TempDir folder_;
  RootDir root_ = RootDir::open(folder_.string()).value();
  HealthPart dcgm_{root_, "dcgm"};
  HealthPart plugin_{root_, "deviceplugin"};
  // The time in the resolution of the file.
  Moment now_ =
      std::chrono::time_point_cast<std::chrono::milliseconds>(std::chrono::steady_clock::now()) - seconds(100);
};

TEST_F(Shared, SharesTheFaultsOfAllServices) {
  ASSERT_TRUE(dcgm_.exchange(with(xid(79, now_))).ok());
  ASSERT_TRUE(plugin_.exchange({}).ok());
  EXPECT_EQ(plugin_.others().at("dcgm"), with(xid(79, now_)));
  EXPECT_TRUE(plugin_.own().empty());
  EXPECT_EQ(dcgm_.own(), with(xid(79, now_))) << "also for a later process";
  EXPECT_THAT(read_shared_health(root_), ::testing::SizeIs(2));
  ASSERT_TRUE(dcgm_.exchange({}).ok());
  EXPECT_TRUE(merged(read_shared_health(root_)).empty());
}

// Before the fix, after a reset, the device plugin had all GPUs healthy, while dcgm, status, doctor and top said "reset
// the GPU" for 24 h.
TEST_F(Shared, EndsForAllWhenOneServiceSawTheEnd) {
  const HealthOfGpus seen = with(xid(79, now_));
  ASSERT_TRUE(dcgm_.exchange(seen).ok());
  EXPECT_EQ(merged(read_shared_health(root_)).at("GPU-3").faults.size(), 1U);
  HealthOfGpus ended{{"GPU-3", {.name = "GPU 3", .faults = {}, .ended = {{{}, "reset", now_ + seconds(1)}}}}};
  ASSERT_TRUE(plugin_.exchange(ended).ok());
  EXPECT_TRUE(merged(read_shared_health(root_)).at("GPU-3").faults.empty());
  ASSERT_TRUE(dcgm_.exchange(seen).ok());
  EXPECT_TRUE(dcgm_.others().at("deviceplugin").at("GPU-3").has_ended({}, now_));
  EXPECT_FALSE(dcgm_.others().at("deviceplugin").at("GPU-3").has_ended({}, now_ + seconds(2)))
      << "later than the reset";
}

TEST_F(Shared, IsIgnoredAfterABootOrWhenUntrusted) {
  ASSERT_TRUE(dcgm_.exchange(with(xid(79, now_))).ok());
  std::filesystem::permissions(file(), std::filesystem::perms::others_write, std::filesystem::perm_options::add);
  EXPECT_TRUE(read_shared_health(root_).empty());
  std::filesystem::permissions(file(), std::filesystem::perms::others_write, std::filesystem::perm_options::remove);
  EXPECT_EQ(read_shared_health(root_).size(), 1U);
  std::ifstream in(file());
  Json json = Json::parse(in);
  json["boot"] = "another";
  std::ofstream(file()) << json.dump();
  EXPECT_TRUE(read_shared_health(root_).empty());
  for (const char* text : {"", "[]", "{\"services\": 3}", "nonsense"}) {
    std::ofstream(file()) << text;
    EXPECT_TRUE(read_shared_health(root_).empty()) << text;
    ASSERT_TRUE(dcgm_.exchange(with(xid(79, now_))).ok());
    EXPECT_EQ(read_shared_health(root_).size(), 1U) << text;
  }
}

TEST_F(Shared, IsLimitedInEveryRespect) {
  HealthOfGpus many;
  for (unsigned i = 0; i < 1000; ++i) {
    GpuHealth& gpu = many["GPU-" + std::to_string(i)];
    for (unsigned number = 1; number < 200; ++number) gpu.faults.push_back(xid(number, now_));
  }
  const HealthOfGpus back = health_from_json(to_json(many));
  EXPECT_EQ(back.size(), 256U);
  EXPECT_EQ(back.begin()->second.faults.size(), 64U);
  Json odd = to_json(with(xid(79, now_)));
  odd["GPU-3"]["faults"][0]["text"] = std::string(5000, 'x');
  odd["GPU-3"]["faults"][0]["lastMs"] = std::int64_t{9'000'000'000'000'000};
  odd["GPU-3"]["faults"].push_back(7);
  const HealthOfGpus read = health_from_json(odd);
  ASSERT_EQ(read.at("GPU-3").faults.size(), 1U);
  EXPECT_EQ(read.at("GPU-3").faults[0].text.size(), 1024U);
  EXPECT_LE(read.at("GPU-3").faults[0].last, std::chrono::steady_clock::now()) << "what is to come would never end";
}

}  // namespace
}  // namespace slipway::nvidia::health
