// SPDX-License-Identifier: Apache-2.0
#include "core/worker/client/said.hpp"

#include <gtest/gtest.h>

namespace slipway::core {
namespace {

class SaidTest : public ::testing::Test {
 protected:
  Said::Listener listener_ = [this](const std::string& level, const std::string& text) {
    lines_.push_back(level + ":" + text);
  };
  Said said_;
  std::vector<std::string> lines_;
};

TEST_F(SaidTest, HandsOnWholeLinesHoweverTheyArrive) {
  for (const char* part : {"one\ntw", "o\n\nthr", "ee"}) said_.printed(part, listener_);
  EXPECT_EQ(lines_, (std::vector<std::string>{"info:one", "info:two"}));
  said_.flush(listener_);
  EXPECT_EQ(lines_.back(), "info:three");
  EXPECT_EQ(said_.last_lines(), "one\ntwo\nthree");
}

TEST_F(SaidTest, CutsALineWithoutEnd) {
  said_.printed(std::string(2 * Said::kMaxLine + 5, 'x'), listener_);
  EXPECT_EQ(lines_.size(), 2U);
  said_.flush(listener_);
  EXPECT_EQ(lines_.back(), "info:xxxxx");
}

TEST_F(SaidTest, KeepsTheLastTenLinesOfBothKinds) {
  for (int i = 0; i < 20; ++i) said_.logged("debug", std::to_string(i), listener_);
  said_.printed("end\n", listener_);
  EXPECT_EQ(said_.last_lines(), "11\n12\n13\n14\n15\n16\n17\n18\n19\nend");
  EXPECT_EQ(lines_.front(), "debug:0");
}

TEST_F(SaidTest, IsAFloodOnlyWithinOneCall) {
  const std::string most(Said::kMaxPerCall - 1, 'x');
  said_.printed(most, nullptr);
  EXPECT_FALSE(said_.flooded());
  said_.begin_call();
  said_.printed("xx", nullptr);
  EXPECT_FALSE(said_.flooded());
  said_.logged("info", most, nullptr);
  EXPECT_TRUE(said_.flooded());
}

}  // namespace
}  // namespace slipway::core
