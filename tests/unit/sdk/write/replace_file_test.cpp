// SPDX-License-Identifier: Apache-2.0
#include <filesystem>
#include <fstream>

#include <gmock/gmock.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <slipway/testing/temp_dir.hpp>
#include <slipway/write/new_file.hpp>

namespace slipway {
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

TEST_F(ReplaceFile, LeavesWhatIsNoFileAsItIs) {
  folder.directory("/etc/a");
  const Status done = replace_file(root, "/etc/a", "new");
  ASSERT_FALSE(done.ok());
  EXPECT_EQ(done.error().code, ErrorCode::conflict);
  EXPECT_THAT(done.error().what, HasSubstr("no regular file"));
  EXPECT_TRUE(fs::is_directory(folder.at("/etc/a")));
  EXPECT_EQ(names_in("/etc"), 1U);
}

}  // namespace
}  // namespace slipway
