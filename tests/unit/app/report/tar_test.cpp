// SPDX-License-Identifier: Apache-2.0
#include "app/report/tar.hpp"

#include <cstdio>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <slipway/testing/temp_dir.hpp>

namespace slipway::app {
namespace {

std::string output_of(const std::string& command) {
  std::string text;
  std::FILE* const pipe = ::popen(command.c_str(), "r");
  for (int c = 0; (c = std::fgetc(pipe)) != EOF;) text += static_cast<char>(c);
  EXPECT_EQ(::pclose(pipe), 0) << command;
  return text;
}

TEST(Tar, IsReadByTar) {
  const testing::TempDir folder;
  const std::string deep = std::string(90, 'a') + "/" + std::string(90, 'b');
  const auto bytes =
      tar_of("report", {{"empty", ""}, {"x/y.txt", "text\n"}, {deep, std::string(1000, 'z')}}, 1767225600);
  ASSERT_TRUE(bytes.ok());
  folder.file("report.tar", *bytes);
  const std::string tar = "tar -xf " + folder.at("report.tar").string() + " -C " + folder.at(".").string();
  EXPECT_EQ(output_of(tar + " && cd " + folder.at("report").string() + " && cat x/y.txt"), "text\n");
  EXPECT_EQ(output_of("wc -c < " + folder.at("report/" + deep).string()), "1000\n");
  EXPECT_EQ(output_of("stat -c '%s %a %Y' " + folder.at("report/empty").string()), "0 600 1767225600\n");
}

TEST(Tar, RefusesANameThatDoesNotFit) { EXPECT_FALSE(tar_of("report", {{std::string(300, 'x'), ""}}, 0).ok()); }

}  // namespace
}  // namespace slipway::app
