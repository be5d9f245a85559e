// SPDX-License-Identifier: Apache-2.0
#include <filesystem>
#include <fstream>

#include <fcntl.h>
#include <gmock/gmock.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <slipway/testing/temp_dir.hpp>

#include "base/write/new_file.hpp"

namespace slipway::base {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

class ReplaceFile : public ::testing::Test {
 protected:
  slipway::testing::TempDir folder;
  RootDir root = *RootDir::open(folder.string());

  std::string text_of(const std::string& path) const {
    std::ifstream in(folder.at(path));
    return {std::istreambuf_iterator<char>(in), {}};
  }
  struct stat info_of(const std::string& path) const {
    struct stat info {};
    EXPECT_EQ(::lstat(folder.at(path).c_str(), &info), 0) << path;
    return info;
  }
  std::size_t names_in(const std::string& path) const {
    return static_cast<std::size_t>(std::distance(fs::directory_iterator(folder.at(path)), {}));
  }
};

TEST_F(ReplaceFile, MakesAFileWithItsFolders) {
  const mode_t former = ::umask(0077);
  ASSERT_TRUE(replace_file(root, "/etc/containerd/conf.d/a.toml", "text\n").ok());
  ::umask(former);
  EXPECT_EQ(text_of("/etc/containerd/conf.d/a.toml"), "text\n");
  EXPECT_EQ(info_of("/etc/containerd/conf.d/a.toml").st_mode & 07777U, 0644U);
  EXPECT_EQ(names_in("/etc/containerd/conf.d"), 1U) << "nothing else is left behind";
}

TEST_F(ReplaceFile, KeepsModeOwnerAndAttributesOfTheFormerFile) {
  folder.file("/a", "old");
  const std::string path = folder.at("/a").string();
  ASSERT_EQ(::chmod(path.c_str(), 0640), 0);
  const bool has_attributes = ::setxattr(path.c_str(), "user.origin", "admin", 5, 0) == 0;
  const bool is_root = ::geteuid() == 0;
  if (is_root) {
    ASSERT_EQ(::chown(path.c_str(), 12, 34), 0);
  }
  const struct stat before = info_of("/a");
  ASSERT_TRUE(replace_file(root, "/a", "new").ok());
  EXPECT_EQ(text_of("/a"), "new");
  const struct stat after = info_of("/a");
  EXPECT_NE(after.st_ino, before.st_ino) << "the former file itself stays as it was for who has it open";
  EXPECT_EQ(after.st_mode, before.st_mode);
  EXPECT_EQ(after.st_uid, before.st_uid);
  EXPECT_EQ(after.st_gid, before.st_gid);
  char value[8]{};
  if (has_attributes) {
    EXPECT_EQ(::getxattr(path.c_str(), "user.origin", value, sizeof(value)), 5);
    EXPECT_STREQ(value, "admin");
  }
}

TEST_F(ReplaceFile, ReplacesTheFileBehindALinkInsideTheRoot) {
  folder.file("/real/a", "old");
  folder.link("/etc/a", "/real/a");
  ASSERT_TRUE(replace_file(root, "/etc/a", "new").ok());
  EXPECT_EQ(text_of("/real/a"), "new");
  EXPECT_TRUE(fs::is_symlink(folder.at("/etc/a")));
}

// Before the fix, another user could put a link into such a folder, and root's own file behind the link was
// overwritten.
TEST_F(ReplaceFile, FollowsNoLinkOfAnotherUserInAWorldWritableFolder) {
  folder.file("/victim", "mine");
  folder.link("/w/state", "/victim");
  const std::string link = folder.at("/w/state").string();
  const std::string shared = folder.at("/w").string();
  if (::geteuid() != 0) GTEST_SKIP() << "only root may give a link to another user";
  ASSERT_EQ(::lchown(link.c_str(), 65534, 65534), 0);
  EXPECT_TRUE(replace_file(root, "/w/state", "a").ok()) << "in a folder of root's own, root put it there";
  ASSERT_EQ(::chmod(shared.c_str(), 01777), 0);
  const Status refused = replace_file(root, "/w/state", "b");
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code, ErrorCode::denied);
  EXPECT_EQ(text_of("/victim"), "a");
}

TEST_F(ReplaceFile, DoesNotReplaceOtherTypesOfFiles) {
  folder.directory("/etc/a");
  const Status done = replace_file(root, "/etc/a", "new");
  ASSERT_FALSE(done.ok());
  EXPECT_EQ(done.error().code, ErrorCode::conflict);
  EXPECT_THAT(done.error().what, HasSubstr("not a regular file"));
  EXPECT_TRUE(fs::is_directory(folder.at("/etc/a")));
  EXPECT_EQ(names_in("/etc"), 1U);
}

TEST_F(ReplaceFile, ReplacesALinkAndItsMode) {
  folder.file("/real", "theirs");
  folder.link("/a", "real");
  for (const bool synced : {true, false}) {
    ASSERT_TRUE(put_file(folder.at("/a").string(), "new", NewFile::ours(0600), synced).ok());
    EXPECT_EQ(text_of("/a"), "new");
    EXPECT_EQ(info_of("/a").st_mode, S_IFREG | 0600U);
  }
  EXPECT_EQ(text_of("/real"), "theirs");
  EXPECT_EQ(names_in("/"), 2U) << "nothing else is left behind";
  ASSERT_TRUE(put_file(folder.at("/a").string(), "newer").ok());
  EXPECT_EQ(info_of("/a").st_mode, S_IFREG | 0644U);
}

TEST_F(ReplaceFile, LeavesNothingBehindAfterAFailure) {
  folder.directory("/etc/a/full");
  EXPECT_FALSE(put_file(folder.at("/etc/a").string(), "new").ok());
  EXPECT_EQ(names_in("/etc"), 1U);
  const Status done = put_file(folder.at("/none/a").string(), "new");
  ASSERT_FALSE(done.ok());
  EXPECT_EQ(done.error().code, ErrorCode::not_found);
}

TEST_F(ReplaceFile, RemovesALeftoverTemporaryFile) {
  folder.file("/theirs", "theirs");
  folder.link("/a.slipway-new", "theirs");
  const auto fill = [](int fd) { return write_all(fd, std::string_view("new"), "a"); };
  ASSERT_TRUE(write_and_rename(root.fd(), std::string("a") + kNewSuffix, "a", "/a", NewFile::ours(0640), fill).ok());
  EXPECT_EQ(text_of("/a"), "new");
  EXPECT_EQ(info_of("/a").st_mode, S_IFREG | 0640U);
  EXPECT_EQ(text_of("/theirs"), "theirs");
  EXPECT_EQ(names_in("/"), 2U);
}

TEST_F(ReplaceFile, SetsAttributesOnTheOpenFile) {
  folder.file("/a", "a");
  folder.file("/b", "b");
  const auto file = root.open_at("/a", O_PATH | O_NOFOLLOW);
  ASSERT_TRUE(file.ok());
  fs::rename(folder.at("/a"), folder.at("/moved"));
  fs::rename(folder.at("/b"), folder.at("/a"));
  const bool has_attributes = ::setxattr(folder.at("/moved").c_str(), "user.before", "x", 1, 0) == 0;
  ASSERT_TRUE(write_attributes(file->get(), "/a", {{"user.origin", "admin"}}).ok());
  EXPECT_EQ(read_attributes(root.fd(), "moved").count("user.origin"), has_attributes ? 1U : 0U);
  EXPECT_EQ(read_attributes(root.fd(), "a").count("user.origin"), 0U);
}

TEST(FolderOf, IsThePathBeforeTheLastName) {
  EXPECT_EQ(folder_of("/a/b"), "/a");
  EXPECT_EQ(folder_of("a/b"), "a");
  EXPECT_EQ(folder_of("/a"), "/");
  EXPECT_EQ(folder_of("a"), ".");
}

}  // namespace
}  // namespace slipway::base
