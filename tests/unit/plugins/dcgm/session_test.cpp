// SPDX-License-Identifier: Apache-2.0
// A connection to DCGM's engine, over a stand-in for its library, with a clock of the test's own.
#include "dcgm/engine/session.hpp"

#include <cstdlib>
#include <filesystem>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <slipway/testing/temp_dir.hpp>

namespace slipway::dcgm {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Key;
using ::testing::Pair;

constexpr unsigned kTemperature = 858;  // of an NVSwitch
constexpr unsigned kFlitErrors = 786;   // of one link

class EngineSessions : public ::testing::Test {
 protected:
  EngineSessions() {
    ::setenv("STANDIN_DCGM", folder_.path().c_str(), 1);
    folder_.file("mode", "ok");
    folder_.file("uuids", "GPU-0\n");
    const std::filesystem::path library = dcgm_library_candidates(folder_.path().string()).front();
    std::filesystem::create_directories(library.parent_path());
    std::filesystem::copy_file(SLIPWAY_STANDIN_DCGM, library);
  }
  ~EngineSessions() override { ::unsetenv("STANDIN_DCGM"); }

  testing::TempDir folder_;
  EngineSession::Clock::time_point now_;
};

TEST_F(EngineSessions, LoadNoLibraryOfAnotherUser) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root gives files away";
  const std::string library = dcgm_library_candidates(folder_.path().string()).front();
  ASSERT_EQ(::chown(library.c_str(), 65534, 0), 0);
  const auto refused = DcgmLibrary::open(folder_.path().string());
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::denied);
}

// An NVSwitch may appear when the fabric manager starts after the service; the next check is a minute later.
TEST_F(EngineSessions, TakeUpAnNvSwitchAndItsLinksThatComeLater) {
  auto library = DcgmLibrary::open(folder_.path().string());
  ASSERT_TRUE(library) << library.error().what;
  EngineSession session(*library, [this] { return now_; });
  ASSERT_TRUE(session.begin({.text = "localhost:5555"}));
  ASSERT_TRUE(session.watch({kTemperature, kFlitErrors}, std::chrono::milliseconds(100)));
  EXPECT_THAT(session.missing(), HasSubstr("NVSwitches"));
  folder_.file("switches", "8 0 17\n");
  now_ += EngineSession::kLookAgain - std::chrono::milliseconds(1);
  const auto early = session.read();
  ASSERT_TRUE(early);
  EXPECT_THAT(early->gpus, ElementsAre(Key("GPU-0")));
  EXPECT_THAT(early->switches, IsEmpty()) << "it is not looked for at each reading";
  now_ += std::chrono::milliseconds(1);
  const auto found = session.read();
  ASSERT_TRUE(found);
  EXPECT_THAT(found->switches, ElementsAre(Pair(8U, ElementsAre(Pair(kTemperature, Value(std::int64_t{8588}))))));
  EXPECT_THAT(found->switch_links, ElementsAre(Key(Pair(8U, 0U)), Key(Pair(8U, 17U))));
  EXPECT_EQ(session.missing(), "");
  folder_.file("switches", "8 0 17\n11 5\n");
  now_ += EngineSession::kLookAgain;
  const auto both = session.read();
  ASSERT_TRUE(both);
  EXPECT_THAT(both->switches, ElementsAre(Key(8U), Key(11U)));
  EXPECT_THAT(both->switch_links, ElementsAre(Key(Pair(8U, 0U)), Key(Pair(8U, 17U)), Key(Pair(11U, 5U))));
}

}  // namespace
}  // namespace slipway::dcgm
