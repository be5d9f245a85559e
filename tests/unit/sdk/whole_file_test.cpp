// SPDX-License-Identifier: Apache-2.0
// A service's file is complete, or unchanged.
#include <fstream>
#include <iterator>

#include <gtest/gtest.h>

#include <slipway/regular_file.hpp>
#include <slipway/testing/temp_dir.hpp>

namespace slipway {
namespace {

namespace fs = std::filesystem;

std::string text_of(const fs::path& file) {
  std::ifstream in(file);
  return {std::istreambuf_iterator<char>(in), {}};
}

TEST(WholeFile, TakesThePlaceOfTheFormerOneOrOfALink) {
  const testing::TempDir folder;
  const std::string path = folder.at("metrics.prom").string();
  ASSERT_TRUE(write_whole(path, "one\n").ok());
  EXPECT_EQ(text_of(path), "one\n");
  EXPECT_EQ(static_cast<unsigned>(fs::status(path).permissions()), 0644U);
  std::ofstream(folder.at("other")) << "stays\n";
  fs::remove(path);
  fs::create_symlink("other", path);
  ASSERT_TRUE(write_whole(path, "two\n", 0600).ok());
  EXPECT_EQ(text_of(path), "two\n");
  EXPECT_EQ(static_cast<unsigned>(fs::symlink_status(path).permissions()), 0600U);
  EXPECT_EQ(text_of(folder.at("other")), "stays\n");
  EXPECT_EQ(std::distance(fs::directory_iterator(folder.path()), fs::directory_iterator()), 2);
}

TEST(WholeFile, LeavesNothingBehindWhereItCannotBeWritten) {
  const testing::TempDir folder;
  fs::create_directories(folder.at("taken/full"));
  const Status written = write_whole(folder.at("taken").string(), "x");
  ASSERT_FALSE(written.ok());
  EXPECT_EQ(written.error().where, folder.at("taken").string());
  EXPECT_EQ(std::distance(fs::directory_iterator(folder.path()), fs::directory_iterator()), 1);
  EXPECT_FALSE(write_whole(folder.at("missing/file").string(), "x").ok());
}

}  // namespace
}  // namespace slipway
