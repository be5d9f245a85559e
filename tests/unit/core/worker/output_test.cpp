// SPDX-License-Identifier: Apache-2.0
#include "core/worker/client/output.hpp"

#include <gtest/gtest.h>

namespace slipway::core {
namespace {

class OutputTest : public ::testing::Test {
 protected:
  ToolOutput::Listener listener_ = [this](const std::string& level, const std::string& text) {
    lines_.push_back(level + ":" + text);
  };
  ToolOutput output_;
  std::vector<std::string> lines_;
};

TEST_F(OutputTest, PassesOnWholeLines) {
  for (const char* part : {"one\ntw", "o\n\nthr", "ee"}) output_.printed(part, listener_);
  EXPECT_EQ(lines_, (std::vector<std::string>{"info:one", "info:two"}));
  output_.flush(listener_);
  EXPECT_EQ(lines_.back(), "info:three");
  EXPECT_EQ(output_.last_lines(), "one\ntwo\nthree");
}

TEST_F(OutputTest, CutsAnEndlessLine) {
  output_.printed(std::string(2 * ToolOutput::kMaxLine + 5, 'x'), listener_);
  EXPECT_EQ(lines_.size(), 2U);
  output_.flush(listener_);
  EXPECT_EQ(lines_.back(), "info:xxxxx");
}

TEST_F(OutputTest, KeepsTheLastTenLinesOfBothKinds) {
  for (int i = 0; i < 20; ++i) output_.logged("debug", std::to_string(i), listener_);
  output_.printed("end\n", listener_);
  EXPECT_EQ(output_.last_lines(), "11\n12\n13\n14\n15\n16\n17\n18\n19\nend");
  EXPECT_EQ(lines_.front(), "debug:0");
}

TEST_F(OutputTest, IsLimitedForEachCall) {
  const std::string most(ToolOutput::kMaxPerCall - 1, 'x');
  output_.printed(most, nullptr);
  EXPECT_FALSE(output_.flooded());
  output_.begin_call();
  output_.printed("xx", nullptr);
  EXPECT_FALSE(output_.flooded());
  output_.logged("info", most, nullptr);
  EXPECT_TRUE(output_.flooded());
}

}  // namespace
}  // namespace slipway::core
