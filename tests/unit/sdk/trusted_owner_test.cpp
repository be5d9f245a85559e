// SPDX-License-Identifier: Apache-2.0
// Owners of files in user namespaces, as a folder in the place of /proc shows them.
#include <gtest/gtest.h>
#include <unistd.h>

#include <slipway/testing/temp_dir.hpp>
#include <slipway/trusted_owner.hpp>

namespace slipway {
namespace {

using slipway::testing::TempDir;

constexpr uid_t kOverflow = 4711;  // of a kernel that was told so, so that the test's own files can belong to it
constexpr uid_t kCaller = 1000;

/// A namespace with these users, in which the root folder belongs to `owner_of_root`.
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

TEST(TrustedOwner, IsWhoOwnsTheRootFolderWhenTheNamespaceHasNoNameForThem) {
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

}  // namespace
}  // namespace slipway
