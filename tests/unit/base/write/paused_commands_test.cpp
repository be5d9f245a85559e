// SPDX-License-Identifier: Apache-2.0
#include "base/write/paused_commands.hpp"

#include <filesystem>
#include <fstream>

#include <gmock/gmock.h>
#include <sys/stat.h>

#include <slipway/json.hpp>
#include <slipway/testing/temp_dir.hpp>

namespace slipway::base {
namespace {

class PausedCommands : public ::testing::Test {
 protected:
  PausedCommand command(const std::string& word, int code = 0) const {
    return {{"nvidia-smi", word}, code, std::chrono::steady_clock::now()};
  }
  std::vector<std::string> recorded() const {
    std::vector<std::string> all;
    for (const PausedCommand& each : read_paused_commands(root_))
      all.push_back(each.words.back() + " " + std::to_string(each.exit_code));
    return all;
  }
  std::string file() const { return folder_.at("run/slipway/paused.json").string(); }

  testing::TempDir folder_;
  RootDir root_ = RootDir::open(folder_.string()).value();
};

TEST_F(PausedCommands, AreKeptForTheServicesOfThisBootAndForRootAlone) {
  EXPECT_TRUE(recorded().empty());
  ASSERT_TRUE(record_paused_command(root_, command("-r")).ok());
  ASSERT_TRUE(record_paused_command(root_, command("-L", 9)).ok());
  EXPECT_THAT(recorded(), ::testing::ElementsAre("-r 0", "-L 9"));
  struct stat info {};
  ASSERT_EQ(::stat(file().c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777U, 0600U) << "a command line may hold a secret";
  std::ifstream in(file());
  Json json = Json::parse(in);
  json["boot"] = "another";
  std::ofstream(file()) << json.dump();
  EXPECT_TRUE(recorded().empty());
}

TEST_F(PausedCommands, AreLimitedAndOtherDataIsIgnored) {
  for (int i = 0; i < 70; ++i) ASSERT_TRUE(record_paused_command(root_, command(std::to_string(i))).ok());
  EXPECT_EQ(recorded().size(), 64U);
  EXPECT_EQ(recorded().back(), "69 0");
  ASSERT_TRUE(record_paused_command(root_, command(std::string(5000, 'x'))).ok());
  EXPECT_EQ(recorded().back(), "69 0") << "too long to be recorded";
  std::ifstream in(file());
  Json json = Json::parse(in);
  in.close();
  json["commands"] = {3,
                      {{"words", "-r"}},
                      {{"words", {"a", 1}}, {"exitCode", 0}, {"endedMs", 1}},
                      {{"words", {"later"}}, {"exitCode", 0}, {"endedMs", std::int64_t{9'000'000'000'000'000}}},
                      {{"words", {"good"}}, {"exitCode", 0}, {"endedMs", 1}}};
  std::ofstream(file()) << json.dump();
  EXPECT_THAT(recorded(), ::testing::ElementsAre("good 0"));
  std::filesystem::permissions(file(), std::filesystem::perms::others_write, std::filesystem::perm_options::add);
  EXPECT_TRUE(recorded().empty()) << "others could have written it";
}

}  // namespace
}  // namespace slipway::base
