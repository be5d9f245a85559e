// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include "machines.hpp"
#include "nvidia/config/config_watch.hpp"

namespace slipway::deviceplugin {
namespace {

using namespace std::chrono_literals;
using testing::settings_of;

constexpr const char* kManyReplicas = "{version: v1, sharing: {timeSlicing: {replicas: 128}}}";
constexpr const char* kTwoReplicas = "{version: v1, sharing: {timeSlicing: {replicas: 2}}}";
constexpr const char* kWrong = "{version: v1, sharing: {timeSlicing: {replicas: four}}}";

/// A file that changes under the watch, and a clock that the test moves.
class Watch : public ::testing::Test {
 protected:
  using News = ConfigWatch::News;
  /// Returns the news for a file with this content, polled for that time.
  std::vector<News> over(const char* file, std::chrono::milliseconds time) {
    file_ = file;
    std::vector<News> all;
    for (const auto end = now_ + time; now_ < end; now_ += 50ms)
      if (const News news = watch_.look(now_); news != News::none) all.push_back(news);
    return all;
  }
  unsigned replicas() const {
    const auto& shared = watch_.in_force().sharing.resources;
    return shared.empty() ? 1 : shared.front().replicas;
  }

  const char* file_ = kManyReplicas;
  int reads_ = 0;
  ConfigWatch::Clock::time_point now_{};
  ConfigWatch watch_{*settings_of(kManyReplicas),
                     [this] {
                       ++reads_;
                       return settings_of(file_);
                     },
                     now_};
};

TEST_F(Watch, LooksSeldomWhileNothingChanges) {
  EXPECT_THAT(over(kManyReplicas, 20s), ::testing::IsEmpty());
  EXPECT_LE(reads_, 10);
}

TEST_F(Watch, ATemporarilyEmptyFileIsNotANewConfig) {
  for (const auto before : {0ms, 700ms, 1900ms, 1950ms}) {
    over(kManyReplicas, before);
    EXPECT_THAT(over("", 400ms), ::testing::IsEmpty());
    EXPECT_THAT(over(kManyReplicas, 5s), ::testing::IsEmpty());
    EXPECT_EQ(replicas(), 128U);
  }
}

TEST_F(Watch, AnIncompleteFileIsNotAnError) {
  over(kManyReplicas, 1800ms);
  EXPECT_THAT(over(kWrong, 400ms), ::testing::IsEmpty());
  EXPECT_THAT(over(kTwoReplicas, 5s), ::testing::ElementsAre(News::changed));
  EXPECT_EQ(replicas(), 2U);
}

TEST_F(Watch, AnInvalidConfigIsReportedOnceAndTheLastOneIsKept) {
  EXPECT_THAT(over(kWrong, 20s), ::testing::ElementsAre(News::wrong));
  EXPECT_EQ(replicas(), 128U);
  EXPECT_THAT(watch_.problem()->what, ::testing::HasSubstr("four"));
  EXPECT_THAT(over(kManyReplicas, 5s), ::testing::IsEmpty()) << "it is used already";
  EXPECT_FALSE(watch_.problem());
}

TEST_F(Watch, AnEmptyFileThatStaysIsNvidiasDefaults) {
  EXPECT_THAT(over("", 5s), ::testing::ElementsAre(News::changed));
  EXPECT_EQ(replicas(), 1U);
}

}  // namespace
}  // namespace slipway::deviceplugin
