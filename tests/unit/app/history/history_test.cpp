// SPDX-License-Identifier: Apache-2.0
#include "app/history/history.hpp"

#include <filesystem>
#include <fstream>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/file.h>
#include <sys/stat.h>

#include <slipway/testing/temp_dir.hpp>

#include "base/write/lock_file.hpp"

namespace slipway::app {
namespace {

using slipway::testing::TempDir;

std::vector<int> numbers(const History& history) {
  std::vector<int> read;
  const auto events = history.read();
  EXPECT_TRUE(events.ok());
  for (const Json& event : events.value_or(std::vector<Json>{})) read.push_back(event.value("n", -1));
  return read;
}

TEST(History, IsEmptyAtFirst) {
  const TempDir folder;
  EXPECT_TRUE(numbers(History(folder.at("log").string())).empty());
}

TEST(History, ReturnsEventsOldestFirst) {
  const TempDir folder;
  const History history(folder.at("log").string());
  for (int n = 1; n <= 3; ++n) ASSERT_TRUE(history.append({{"n", n}}).ok());
  EXPECT_THAT(numbers(history), ::testing::ElementsAre(1, 2, 3));
}

TEST(History, MakesTheFoldersAboveItAsWell) {
  const TempDir folder;
  const History history(folder.at("var/log/slipway").string());
  ASSERT_TRUE(history.append({{"n", 1}}).ok());
  EXPECT_THAT(numbers(history), ::testing::ElementsAre(1));
}

TEST(History, ExceedsItsLimitByAtMostALineAndDropsTheOldest) {
  const TempDir folder;
  const History history(folder.at("log").string(), {.file_bytes = 100, .files = 3});
  for (int n = 1; n <= 100; ++n) ASSERT_TRUE(history.append({{"n", n}, {"text", "twenty bytes of text"}}).ok());
  std::size_t files = 0;
  for (const auto& file : std::filesystem::directory_iterator(folder.at("log"))) {
    ++files;
    EXPECT_LE(file.file_size(), 150U);
  }
  EXPECT_EQ(files, 3U);
  const std::vector<int> kept = numbers(history);
  ASSERT_FALSE(kept.empty());
  EXPECT_EQ(kept.back(), 100);
  EXPECT_EQ(kept.front(), 101 - static_cast<int>(kept.size()));
}

TEST(History, ContinuesBehindALineThatAPowerCutLeftHalf) {
  const TempDir folder;
  const History history(folder.at("log").string());
  ASSERT_TRUE(history.append({{"n", 1}}).ok());
  std::ofstream(folder.at("log/history.jsonl"), std::ios::app) << "{\"n\": 2, \"te";
  ASSERT_TRUE(history.append({{"n", 3}}).ok());
  EXPECT_THAT(numbers(history), ::testing::ElementsAre(1, 3));
}

// flock(2) on the folder only needs permission to open it; before the fix, the apply waited without a limit.
TEST(History, IsWrittenWhileAnotherUserLocksTheFolder) {
  const TempDir folder;
  folder.directory("log");
  const Fd folder_lock(::open(folder.at("log").c_str(), O_RDONLY | O_DIRECTORY));
  ASSERT_EQ(::flock(folder_lock.get(), LOCK_EX), 0);
  const History history(folder.at("log").string());
  EXPECT_TRUE(history.append({{"n", 1}}).ok());
  EXPECT_THAT(numbers(history), ::testing::ElementsAre(1));
}

TEST(History, WaitsForAnotherWriterNoLongerThanItsLimit) {
  const TempDir folder;
  folder.directory("log");
  const auto lock = base::LockFile::take(*RootDir::open("/"), folder.at("log").string(), "history.lock");
  ASSERT_TRUE(lock.ok());
  struct stat info {};
  ASSERT_EQ(::stat(folder.at("log/history.lock").c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777U, 0600U);
  const History history(folder.at("log").string(), {.wait = std::chrono::milliseconds(30)});
  const Status written = history.append({{"n", 1}});
  ASSERT_FALSE(written.ok());
  EXPECT_EQ(written.error().code, ErrorCode::locked);
}

TEST(History, IsNotWrittenWhereOthersMayWrite) {
  const TempDir folder;
  folder.directory("log");
  ASSERT_EQ(::chmod(folder.at("log").c_str(), 0777), 0);
  const Status written = History(folder.at("log").string()).append({{"n", 1}});
  ASSERT_FALSE(written.ok());
  EXPECT_EQ(written.error().code, ErrorCode::conflict);
}

TEST(History, LosesNoLineWhenSeveralWriteAtOnce) {
  const TempDir folder;
  const History history(folder.at("log").string(), {.file_bytes = 2000, .files = 50});
  std::vector<std::thread> writers;
  for (int writer = 0; writer < 4; ++writer)
    writers.emplace_back([&] {
      for (int n = 0; n < 100; ++n) EXPECT_TRUE(history.append({{"n", n}}).ok());
    });
  for (std::thread& writer : writers) writer.join();
  EXPECT_EQ(numbers(history).size(), 400U);
}

TEST(History, ThatCannotBeWrittenSaysWhere) {
  const TempDir folder;
  folder.file("log", "a file\n");
  const Status written = History(folder.at("log").string()).append({{"n", 1}});
  ASSERT_FALSE(written.ok());
  EXPECT_THAT(written.error().where, ::testing::HasSubstr("log"));
}

}  // namespace
}  // namespace slipway::app
