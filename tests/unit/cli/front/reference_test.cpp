// SPDX-License-Identifier: Apache-2.0
#include "cli/front/reference.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <slipway/testing/temp_dir.hpp>

namespace slipway::cli {
namespace {

using testing::TempDir;

class Reference : public ::testing::Test {
 protected:
  Reference() {
    prefix_.file("share/slipway/reference/help", "the help\n");
    prefix_.file("share/slipway/reference/bash", "the completion\n");
  }
  std::optional<std::string> text(const std::vector<std::string>& words) const {
    return reference_text(words, prefix_.string());
  }
  TempDir prefix_;
};

TEST_F(Reference, HasTheVersionWithoutAFile) {
  EXPECT_EQ(reference_text({"version"}, "/nowhere"), "slipway " SLIPWAY_VERSION "\n");
  EXPECT_EQ(reference_text({"--version"}, "/nowhere"), reference_text({"version"}, "/nowhere"));
}

TEST_F(Reference, HasHelpAndCompletionsFromItsFiles) {
  for (const char* word : {"help", "--help", "-h"}) EXPECT_EQ(text({word}), "the help\n");
  EXPECT_EQ(text({"completion", "bash"}), "the completion\n");
}

TEST_F(Reference, LeavesEverythingElseToTheProgramThatKnowsAllCommands) {
  for (const std::vector<std::string>& words :
       std::vector<std::vector<std::string>>{{},
                                             {"plan"},
                                             {"version", "-o", "json"},
                                             {"plan", "--help"},
                                             {"--help", "plan"},
                                             {"completion"},
                                             {"completion", "csh"},
                                             {"completion", "../reference/bash"},
                                             {"completion", "bash", "-v"}})
    EXPECT_EQ(text(words), std::nullopt);
}

TEST_F(Reference, IsEmptyWithoutARegularFile) {
  EXPECT_EQ(text({"completion", "zsh"}), std::nullopt);
  prefix_.file("share/slipway/reference/fish", "");
  EXPECT_EQ(text({"completion", "fish"}), std::nullopt);
  prefix_.link("share/slipway/reference/zsh", prefix_.string() + "/share/slipway/reference/bash");
  EXPECT_EQ(text({"completion", "zsh"}), std::nullopt);
  ASSERT_EQ(::mkfifo((prefix_.string() + "/share/slipway/reference/man").c_str(), 0600), 0);
  EXPECT_EQ(text({"completion", "man"}), std::nullopt);
}

}  // namespace
}  // namespace slipway::cli
