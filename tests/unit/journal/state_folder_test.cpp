// SPDX-License-Identifier: Apache-2.0
#include "core/journal/state_folder.hpp"

#include <filesystem>

#include <gtest/gtest.h>

#include <slipway/testing/temp_dir.hpp>

#include "core/journal/state_dir.hpp"

namespace slipway::core {
namespace {

namespace fs = std::filesystem;

class StateFolder : public ::testing::Test {
 protected:
  StateFolder() { folder_.directory("root"); }
  RootFs root() const { return {*RootDir::open(folder_.at("root").string()), 0}; }
  bool there(const std::string& path) const { return fs::exists(folder_.at("root" + path)); }
  void come_and_go() const {
    RootFs fs = root();
    StateDir state(fs);
    ASSERT_TRUE(state.prepare());
    ASSERT_TRUE(state.exists());
    ASSERT_TRUE(state.leave());
  }
  bool empty() const { return fs::is_empty(folder_.at("root")); }
  slipway::testing::TempDir folder_;
};

TEST_F(StateFolder, TakesTheFoldersAboveItAlongThatItMade) {
  come_and_go();
  EXPECT_TRUE(empty());
}

TEST_F(StateFolder, LeavesFoldersThatWereThere) {
  folder_.directory("root/var/lib");
  come_and_go();
  EXPECT_TRUE(there("/var/lib"));
  EXPECT_TRUE(fs::is_empty(folder_.at("root/var/lib")));
}

TEST_F(StateFolder, LeavesAFolderInWhichSomebodyElseWroteMeanwhile) {
  RootFs fs = root();
  StateDir state(fs);
  ASSERT_TRUE(state.prepare());
  folder_.file("root/var/lib/dpkg/status", "theirs");
  folder_.file("root/var/log/syslog", "theirs");
  ASSERT_TRUE(state.leave());
  EXPECT_FALSE(there("/var/lib/slipway"));
  EXPECT_TRUE(there("/var/lib/dpkg/status"));
  EXPECT_TRUE(there("/var/log/syslog"));
}

TEST_F(StateFolder, WhatACutLeftGoesWithTheNextRun) {
  for (const std::string folder : {"", "/var", "/var/lib"}) {
    folder_.file("root" + folder + "/.slipway-state/slipway/origin.json", "{");
    come_and_go();
    EXPECT_FALSE(there(folder + "/.slipway-state"));
  }
}

}  // namespace
}  // namespace slipway::core
