// SPDX-License-Identifier: Apache-2.0
#include "base/write/tree.hpp"

#include <algorithm>
#include <filesystem>
#include <random>
#include <set>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <slipway/testing/temp_dir.hpp>

#include "tests/unit/base/write/deep_tree.hpp"

namespace slipway::base {
namespace {

namespace fs = std::filesystem;
using slipway::testing::make_deep_tree;
using slipway::testing::TempDir;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr unsigned kDeep = 5'000;  // for a path that is longer than the kernel accepts

/// Limits the process to this number of descriptors, until the end of the test.
class FewDescriptors {
 public:
  explicit FewDescriptors(rlim_t most) {
    ::getrlimit(RLIMIT_NOFILE, &before_);
    const rlimit fewer{most, before_.rlim_max};
    ::setrlimit(RLIMIT_NOFILE, &fewer);
  }
  ~FewDescriptors() { ::setrlimit(RLIMIT_NOFILE, &before_); }
  FewDescriptors(const FewDescriptors&) = delete;
  FewDescriptors& operator=(const FewDescriptors&) = delete;

 private:
  rlimit before_{};
};

Fd opened(const fs::path& folder) { return Fd(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)); }

TEST(WalkTree, VisitsAllInOrderAndFollowsNoLink) {
  const TempDir folder;
  folder.file("b/two", "");
  folder.file("b/one", "");
  folder.file("a", "");
  folder.link("c", "b");
  std::vector<std::string> seen;
  const Status walked = walk_tree(opened(folder.path()).get(), folder.string(),
                                  {.enter = [&](const TreeEntry& entry) -> Result<bool> {
                                     seen.push_back(entry.path);
                                     return true;
                                   },
                                   .leave = [&](const TreeEntry& entry) -> Status {
                                     seen.push_back("end of " + entry.path);
                                     return {};
                                   }});
  EXPECT_TRUE(walked);
  EXPECT_THAT(seen, ElementsAre("a", "b", "b/one", "b/two", "end of b", "c"));
}

TEST(WalkTree, GoesWhereTheVisitorWantsAndStopsAtItsErrors) {
  const TempDir folder;
  folder.file("a/x", "");
  folder.file("b/y", "");
  std::vector<std::string> seen;
  const auto enter = [&](const TreeEntry& entry) -> Result<bool> {
    seen.push_back(entry.path);
    if (entry.name == "y") return Error{.code = ErrorCode::io, .what = "enough"};
    return entry.name != "a";
  };
  EXPECT_EQ(walk_tree(opened(folder.path()).get(), folder.string(), {.enter = enter}).error().what, "enough");
  EXPECT_THAT(seen, ElementsAre("a", "b", "b/y"));
}

TEST(WalkTree, EndsWithAnErrorWhereFoldersAreNestedTooDeep) {
  const TempDir folder;
  make_deep_tree(folder.at("deep").string(), kDeepestFolder + 1);
  std::size_t seen = 0;
  const Status walked =
      walk_tree(opened(folder.at("deep")).get(), "/image", {.enter = [&](const TreeEntry&) -> Result<bool> {
                  ++seen;
                  return true;
                }});
  ASSERT_FALSE(walked);
  EXPECT_EQ(walked.error().code, ErrorCode::invalid);
  EXPECT_THAT(walked.error().what, HasSubstr("/image has folders that are nested deeper than 256"));
  EXPECT_LE(seen, 2 * kDeepestFolder);
}

// Before the fix, the removal recursed for each folder, with an open descriptor and a path for each: the program ended
// by SIGSEGV, or with "Too many open files", and such an image could never be repaired.
TEST(RemoveTree, TakesAnyDepthWithFewDescriptors) {
  const TempDir folder;
  make_deep_tree(folder.at("deep").string(), kDeep);
  const FewDescriptors few(64);
  const Status removed = remove_tree(folder.at("deep").string());
  EXPECT_TRUE(removed) << to_text(removed.error());
  EXPECT_FALSE(fs::exists(folder.at("deep")));
}

TEST(RemoveTree, TakesAnyNumberOfNames) {
  const TempDir folder;
  folder.directory("wide");
  for (int i = 0; i < 3000; ++i) {
    folder.file("wide/f" + std::to_string(i), "");
    if (i % 10 == 0) folder.file("wide/d" + std::to_string(i) + "/x", "");
  }
  EXPECT_TRUE(remove_tree(folder.at("wide").string()));
  EXPECT_FALSE(fs::exists(folder.at("wide")));
}

TEST(RemoveTree, TakesLinksAndNotWhatTheyLeadTo) {
  const TempDir folder;
  folder.file("kept/file", "");
  folder.directory("gone");
  fs::create_directory_symlink(folder.at("kept"), folder.at("gone/link"));
  fs::create_directory_symlink(folder.at("kept"), folder.at("link"));
  EXPECT_TRUE(remove_tree(folder.at("gone").string()));
  EXPECT_TRUE(remove_tree(folder.at("link").string()));
  EXPECT_TRUE(remove_tree(folder.at("none").string())) << "it is missing";
  EXPECT_TRUE(remove_tree(folder.at("none/below").string()));
  EXPECT_FALSE(fs::exists(folder.at("gone")) || fs::is_symlink(folder.at("link")));
  EXPECT_TRUE(fs::exists(folder.at("kept/file")));
}

// Trees of any form: deep, wide, with links that lead anywhere. A walk finds the same entries as std::filesystem, and a
// removal deletes the whole tree and nothing outside of it.
TEST(TreeProperty, HoldsForTreesOfAnyForm) {
  std::mt19937 random(20'261'128);
  for (int round = 0; round < 60; ++round) {
    const TempDir folder;
    folder.file("outside/file", "kept");
    folder.directory("tree");
    std::vector<fs::path> folders{folder.at("tree")};
    const bool is_deep = round % 2 == 0;
    for (int i = 0; i < 120; ++i) {
      const fs::path parent = is_deep ? folders.back() : folders[random() % folders.size()];
      const fs::path made = parent / ("n" + std::to_string(i));
      switch (random() % 4) {
        case 0:
          fs::create_directory_symlink(random() % 2 == 0 ? folder.at("outside") : fs::path(".."), made);
          break;
        case 1:
          folder.file(made.lexically_relative(folder.path()).string(), "x");
          break;
        default:
          fs::create_directory(made);
          folders.push_back(made);
      }
    }
    std::set<std::string> seen;
    std::set<std::string> wanted;
    for (const auto& entry : fs::recursive_directory_iterator(folder.at("tree")))
      wanted.insert(entry.path().lexically_relative(folder.at("tree")).string());
    ASSERT_TRUE(
        walk_tree(opened(folder.at("tree")).get(), "tree", {.enter = [&](const TreeEntry& entry) -> Result<bool> {
                    seen.insert(entry.path);
                    return true;
                  }}));
    EXPECT_EQ(seen, wanted) << round;
    ASSERT_TRUE(remove_tree(folder.at("tree").string())) << round;
    EXPECT_FALSE(fs::exists(folder.at("tree")));
    EXPECT_TRUE(fs::exists(folder.at("outside/file")));
  }
}

}  // namespace
}  // namespace slipway::base
