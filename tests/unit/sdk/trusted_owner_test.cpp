// SPDX-License-Identifier: Apache-2.0
// Owners of files in user namespaces, as a folder in the place of /proc shows them.
#include <algorithm>
#include <cstdint>
#include <filesystem>

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <slipway/testing/temp_dir.hpp>
#include <slipway/trusted_owner.hpp>

namespace slipway {
namespace {

using slipway::testing::TempDir;

constexpr uid_t kOverflow = 4711;  // the kernel is told this number, so that the test's own files can belong to it
constexpr uid_t kCaller = 1000;

/// Returns a namespace with these users, in which the root folder belongs to `owner_of_root`.
TempDir proc(const std::string& users, uid_t owner_of_root) {
  TempDir folder;
  folder.file("self/uid_map", users);
  folder.file("self/exe", "");
  folder.file("sys/kernel/overflowuid", std::to_string(kOverflow) + "\n");
  folder.directory("root");
  folder.link("self/root", folder.at("root").string());
  EXPECT_EQ(::chown(folder.at("root").c_str(), owner_of_root, owner_of_root), 0);
  return folder;
}

TEST(TrustedOwner, IsRootOrTheCaller) {
  const TempDir folder = proc("0 0 4294967295\n", 0);
  EXPECT_TRUE(is_trusted_owner(0, kCaller, folder.string()));
  EXPECT_TRUE(is_trusted_owner(kCaller, kCaller, folder.string()));
  EXPECT_FALSE(is_trusted_owner(kOverflow, kCaller, folder.string()));
}

TEST(TrustedOwner, IsTheOwnerOfTheRootFolderInAForeignNamespace) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root gives files away";
  EXPECT_TRUE(is_trusted_owner(kOverflow, 0, proc("0 1000 1\n", kOverflow).string()));
  EXPECT_FALSE(is_trusted_owner(kOverflow, 0, proc("0 1000 1\n", 0).string())) << "the root folder is ours";
  EXPECT_FALSE(is_trusted_owner(kOverflow + 1, 0, proc("0 1000 1\n", kOverflow).string()));
}

TEST(TrustedOwner, IsNotTheOverflowUserWhereThatIsARealOne) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root gives files away";
  EXPECT_FALSE(is_trusted_owner(kOverflow, 0, proc("0 1000 1\n1 100000 65535\n", kOverflow).string()));
  EXPECT_FALSE(is_trusted_owner(kOverflow, 0, proc("0 0 4294967295\n", kOverflow).string()));
}

/// Returns an empty text when /var/lib/state of the folder is trusted, or else the user who could have written it.
std::string writer(const TempDir& folder, const std::string& path = "/var/lib/state") {
  const Status ours = check_only_ours(*RootDir::open(folder.string()), path);
  if (ours) return "nobody";
  EXPECT_EQ(ours.error().code, ErrorCode::denied);
  EXPECT_FALSE(ours.error().next.empty());
  const std::string& what = ours.error().what;
  return what.substr(0, std::min(what.find(" and could"), what.find(", so")));
}

TEST(OnlyOurs, IsAPathThatNoOtherUserMayWrite) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root gives files away";
  for (const std::string place : {"", "/var", "/var/lib", "/var/lib/state"}) {
    const TempDir folder;
    folder.file("var/lib/state", "");
    EXPECT_EQ(writer(folder), "nobody");
    const std::string path = folder.string() + place;
    const mode_t mode = place == "/var/lib/state" ? 0644 : 0755;
    ASSERT_EQ(::chown(path.c_str(), kCaller, 0), 0);
    EXPECT_EQ(writer(folder), "user 1000 owns " + path);
    ASSERT_EQ(::chown(path.c_str(), 0, kCaller), 0);
    ASSERT_EQ(::chmod(path.c_str(), mode | 0020), 0);
    EXPECT_EQ(writer(folder), "group 1000 may write to " + path);
    ASSERT_EQ(::chmod(path.c_str(), mode | 0002), 0);
    EXPECT_EQ(writer(folder), "every user may write to " + path);
    ASSERT_EQ(::chmod(path.c_str(), mode), 0);
    EXPECT_EQ(writer(folder), "nobody");
  }
}

// user::rwx, user:1000:rwx, group::r-x, mask::rwx, other::r-x, in the attribute format of acl(5).
std::string acl_for_the_caller() {
  std::string list{2, 0, 0, 0};
  const auto entry = [&](char tag, char rights, std::uint32_t id) {
    list += {tag, 0, rights, 0};
    for (int byte = 0; byte < 4; ++byte) list += static_cast<char>(id >> (8U * static_cast<unsigned>(byte)));
  };
  constexpr std::uint32_t kNobody = 0xffffffff;
  entry(0x01, 7, kNobody);
  entry(0x02, 7, kCaller);
  entry(0x04, 5, kNobody);
  entry(0x10, 7, kNobody);
  entry(0x20, 5, kNobody);
  return list;
}

// Before the fix, the list was missed: the group's bits of the mode showed its mask, and the group was root's.
TEST(OnlyOurs, IsNotWhatAnAccessControlListOpensForAnother) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root gives files away";
  const TempDir folder;
  folder.file("var/lib/state", "");
  ASSERT_EQ(::chmod(folder.at("var").c_str(), 0775), 0);
  EXPECT_EQ(writer(folder), "nobody") << "the group is root's own";
  const std::string list = acl_for_the_caller();
  if (::setxattr(folder.at("var").c_str(), "system.posix_acl_access", list.data(), list.size(), 0) != 0)
    GTEST_SKIP() << "this file system keeps no access control lists";
  EXPECT_EQ(writer(folder), "a user named in its access control list may write to " + folder.at("var").string());
}

TEST(OnlyOurs, ChecksTheFoldersToWhichLinksLead) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root gives files away";
  const TempDir folder;
  folder.file("srv/data/lib/state", "");
  folder.link("var", "/srv/data");
  EXPECT_EQ(writer(folder), "nobody");
  ASSERT_EQ(::chown(folder.at("srv").c_str(), kCaller, 0), 0);
  EXPECT_EQ(writer(folder), "user 1000 owns " + folder.string() + "/srv");
}

TEST(OnlyOurs, ChecksTheExistingFolders) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root gives files away";
  const TempDir folder;
  folder.directory("var");
  EXPECT_EQ(writer(folder), "nobody");
  ASSERT_EQ(::chown(folder.at("var").c_str(), kCaller, 0), 0);
  EXPECT_EQ(writer(folder), "user 1000 owns " + folder.string() + "/var");
}

// Another user's link between two of root's could be pointed anywhere while the file was read.
TEST(OnlyOurs, RefusesALinkOfAnotherUserInTheMiddle) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root gives files away";
  const TempDir folder;
  folder.file("srv/data/state", "");
  folder.file("home/u/file", "");
  folder.link("etc", "/home/u/link");
  folder.link("home/u/link", "../../srv/./data");
  EXPECT_EQ(writer(folder, "/etc/state"), "nobody");
  const std::string link = folder.at("home/u/link").string();
  ASSERT_EQ(::lchown(link.c_str(), kCaller, kCaller), 0);
  EXPECT_EQ(writer(folder, "/etc/state"), "user 1000 owns " + link);
}

TEST(OnlyOurs, EndsAtACircleOfLinks) {
  const TempDir folder;
  folder.link("a", "/b");
  folder.link("b", "/a");
  EXPECT_FALSE(check_only_ours(*RootDir::open(folder.string()), "/a/state").ok());
}

}  // namespace
}  // namespace slipway
