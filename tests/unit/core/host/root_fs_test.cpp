// SPDX-License-Identifier: Apache-2.0
#include "core/host/root_fs.hpp"

#include <csignal>
#include <functional>
#include <thread>

#include <fcntl.h>
#include <linux/fs.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "base/digest/digest.hpp"
#include "core/host/files.hpp"
#include "core/host/originals.hpp"
#include "temp_root.hpp"
#include "tests/unit/base/write/deep_tree.hpp"

namespace slipway::core {
namespace {

using test::TempRoot;

constexpr std::int64_t kEpoch = 1'700'000'000;

class RootFsTest : public ::testing::Test {
 protected:
  TempRoot root;
  RootFs fs{root.dir(), kEpoch};

  void put_file(const std::string& path, const std::string& content, unsigned mode = 0644) {
    const Status staged = fs.stage_file(path, content, mode, ::geteuid(), ::getegid());
    ASSERT_TRUE(staged.ok()) << to_text(staged.error());
    const Status switched = fs.switch_in(path);
    ASSERT_TRUE(switched.ok()) << to_text(switched.error());
  }
  Image image_of(const std::string& path) {
    const auto image = fs.capture(path);
    EXPECT_TRUE(image.ok()) << path;
    return image.value_or(Image());
  }
  void bring_back(const std::string& path, const Image& image) {
    const Status done = fs.restore(path, image);
    ASSERT_TRUE(done.ok()) << to_text(done.error());
  }
};

TEST_F(RootFsTest, StagesAFileAndRenamesItLater) {
  ASSERT_TRUE(fs.stage_file("/etc/new/file.conf", "text\n", 0640, ::geteuid(), ::getegid()).ok());
  EXPECT_FALSE(root.has("/etc/new/file.conf"));
  EXPECT_EQ(root.content("/etc/new/file.conf.slipway-new"), "text\n");

  ASSERT_TRUE(fs.switch_in("/etc/new/file.conf").ok());
  EXPECT_EQ(root.content("/etc/new/file.conf"), "text\n");
  EXPECT_EQ(root.mode("/etc/new/file.conf"), 0640U);
  EXPECT_FALSE(root.has("/etc/new/file.conf.slipway-new"));
  EXPECT_EQ(root.info("/etc/new/file.conf").st_mtim.tv_sec, kEpoch);
}

TEST(FolderNames, OfAFolderWithMoreEntriesThanAreReadAreAnError) {
  const TempRoot root;
  const Fd folder(::open(root.folder().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  for (const char* name : {"a", "b", "c"}) ASSERT_EQ(::mknodat(folder.get(), name, S_IFREG | 0600, 0), 0);
  EXPECT_EQ(folder_names(folder.get(), "/folder", 3)->size(), 3U);
  const auto names = folder_names(folder.get(), "/folder", 2);
  ASSERT_FALSE(names);
  EXPECT_EQ(names.error().what, "/folder has more than 2 entries");
}

TEST_F(RootFsTest, SetsModesForAnyUmask) {
  const mode_t former = ::umask(077);
  put_file("/a/b", "x", 0664);
  ASSERT_TRUE(fs.make_directory("/c/d", 0775).ok());
  ::umask(former);
  EXPECT_EQ(root.mode("/a/b"), 0664U);
  EXPECT_EQ(root.mode("/a"), 0755U);
  EXPECT_EQ(root.mode("/c"), 0755U);
  EXPECT_EQ(root.mode("/c/d"), 0775U);
}

// Before the fix, the error was that this root may not ignore modes, and to give the file to root, which owned it.
TEST_F(RootFsTest, NamesTheAttributeThatKeepsRootFromReplacingAFile) {
  put_file("/etc/file", "kept");
  const std::string path = root.dir().folder() + "/etc/file";
  const Fd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  int flags = FS_IMMUTABLE_FL;
  if (::ioctl(file.get(), FS_IOC_SETFLAGS, &flags) != 0)
    GTEST_SKIP() << "no attributes in this file system, or not root";
  ASSERT_TRUE(fs.stage_file("/etc/file", "new", 0644, 0, 0).ok());
  const Status switched = fs.switch_in("/etc/file");
  flags = 0;
  ASSERT_EQ(::ioctl(file.get(), FS_IOC_SETFLAGS, &flags), 0);
  ASSERT_FALSE(switched.ok());
  EXPECT_NE(switched.error().next.find("`lsattr -d " + path + "`"), std::string::npos) << switched.error().next;
  EXPECT_NE(switched.error().next.find("chattr -i"), std::string::npos);
}

TEST_F(RootFsTest, LinksInsideTheRootAreFollowedAndNeverLeadOutOfIt) {
  root.make_folder("/usr/lib");
  root.link("/lib", "/usr/lib");
  put_file("/lib/firmware/x", "inside");
  EXPECT_EQ(root.content("/usr/lib/firmware/x"), "inside");

  TempRoot outside;
  root.link("/escape", "../../../../../../.." + outside.folder());
  EXPECT_FALSE(fs.stage_file("/escape/x", "out", 0644, 0, 0).ok());
  EXPECT_FALSE(outside.has("/x"));
}

TEST_F(RootFsTest, ReplacesALinkInsteadOfWritingThroughIt) {
  root.put("/target", "untouched");
  root.link("/etc/link", "../target");
  put_file("/etc/link", "new");
  EXPECT_EQ(root.content("/target"), "untouched");
  EXPECT_TRUE(S_ISREG(root.info("/etc/link").st_mode));
}

TEST_F(RootFsTest, HandsTheExtendedAttributesOfAFileToItsReplacement) {
  root.put("/etc/labelled", "old");
  ASSERT_EQ(::setxattr(root.at("/etc/labelled").c_str(), "user.label", "etc_t", 5, 0), 0);
  put_file("/etc/labelled", "new");
  char value[16] = {};
  EXPECT_EQ(::getxattr(root.at("/etc/labelled").c_str(), "user.label", value, sizeof(value)), 5);
  EXPECT_STREQ(value, "etc_t");
}

TEST_F(RootFsTest, AnAbsentPathGoesAgainWithTheParentsThatWereMadeForIt) {
  root.make_folder("/etc");
  const Image before = image_of("/etc/a/b/file");
  EXPECT_EQ(before, (Image{{"type", "absent"}, {"missing_parents", {"/etc/a", "/etc/a/b"}}}));
  put_file("/etc/a/b/file", "x");
  bring_back("/etc/a/b/file", before);
  EXPECT_TRUE(root.has("/etc"));
  EXPECT_FALSE(root.has("/etc/a"));
  bring_back("/etc/a/b/file", before);  // once more, as after a crash
}

TEST_F(RootFsTest, AParentWithForeignFilesStays) {
  const Image before = image_of("/opt/ours/file");
  put_file("/opt/ours/file", "x");
  root.put("/opt/ours/theirs", "y");
  bring_back("/opt/ours/file", before);
  EXPECT_FALSE(root.has("/opt/ours/file"));
  EXPECT_TRUE(root.has("/opt/ours/theirs"));
}

TEST_F(RootFsTest, RestoresAFileWithModeTimeAndAttributes) {
  root.put("/etc/conf", "the user's own\n", 0604);
  ::setxattr(root.at("/etc/conf").c_str(), "user.note", "n", 1, 0);
  const std::string before = root.listing(TempRoot::Times::files);
  const Image image = image_of("/etc/conf");
  put_file("/etc/conf", "ours\n", 0644);
  ::removexattr(root.at("/etc/conf").c_str(), "user.note");
  bring_back("/etc/conf", image);
  ASSERT_TRUE(Originals(fs).drop_unused({}).ok());
  ASSERT_TRUE(fs.remove_tree("/var").ok());
  EXPECT_EQ(root.listing(TempRoot::Times::files), before);
}

TEST_F(RootFsTest, RestoresLinksAndFolders) {
  root.link("/etc/link", "nowhere");
  root.make_folder("/srv/data");
  ::chmod(root.at("/srv/data").c_str(), 02750);
  const std::string before = root.listing(TempRoot::Times::files);
  const Image link = image_of("/etc/link");
  const Image folder = image_of("/srv/data");
  put_file("/etc/link", "a file now");
  ASSERT_TRUE(fs.remove("/srv/data").ok());
  bring_back("/etc/link", link);
  bring_back("/srv/data", folder);
  EXPECT_EQ(root.listing(TempRoot::Times::files), before);
}

TEST_F(RootFsTest, AFolderThatIsNotEmptyIsNeitherReplacedNorRemoved) {
  root.put("/etc/thing/user-data", "precious");
  ASSERT_TRUE(fs.stage_file("/etc/thing", "x", 0644, ::geteuid(), ::getegid()).ok());
  const Status switched = fs.switch_in("/etc/thing");
  ASSERT_FALSE(switched.ok());
  EXPECT_EQ(switched.error().code, ErrorCode::conflict);
  EXPECT_TRUE(fs.restore("/etc/thing", Image{{"type", "absent"}}).ok());
  EXPECT_EQ(root.content("/etc/thing/user-data"), "precious");
}

// Like services that start together in a fresh /run.
TEST_F(RootFsTest, TwoProcessesCanMakeTheSameFolders) {
  for (int round = 0; round < 200; ++round) {
    const std::string folder = "/run" + std::to_string(round) + "/a/b";
    Status results[2];
    const auto make = [&](Status& result) {
      RootFs own(root.dir(), kEpoch);
      result = own.make_directory(folder, 0755);
    };
    std::thread other(make, std::ref(results[0]));
    make(results[1]);
    other.join();
    for (const Status& result : results) ASSERT_TRUE(result.ok()) << to_text(result.error());
  }
}

TEST_F(RootFsTest, AFileInTheWayOfAFolderIsAConflictThatNamesIt) {
  root.put("/etc/thing", "a file");
  const Status staged = fs.stage_file("/etc/thing/below", "x", 0644, 0, 0);
  ASSERT_FALSE(staged.ok());
  EXPECT_EQ(staged.error().code, ErrorCode::conflict);
  EXPECT_EQ(staged.error().where, "/etc/thing");
}

TEST_F(RootFsTest, UnstagingLeavesNothingAndMayBeRepeated) {
  ASSERT_TRUE(fs.stage_file("/f", "x", 0644, ::geteuid(), ::getegid()).ok());
  EXPECT_TRUE(fs.unstage("/f").ok());
  EXPECT_TRUE(fs.unstage("/f").ok());
  EXPECT_TRUE(fs.unstage("/no/such/folder/f").ok());
  EXPECT_EQ(root.listing(), "");
}

TEST_F(RootFsTest, OriginalsAreSharedPrivateAndCollected) {
  root.put("/a", "same");
  root.put("/b", "same");
  root.put("/c", "other");
  const std::string digest = image_of("/a")["digest"];
  EXPECT_EQ(image_of("/b")["digest"], digest);
  const std::string other = image_of("/c")["digest"];
  const std::string folder = Originals::kFolder;
  EXPECT_EQ(root.mode(folder), 0700U);
  EXPECT_EQ(root.mode(folder + "/" + base::digest_hex(digest)), 0600U);

  ASSERT_TRUE(Originals(fs).drop_unused({digest}).ok());
  EXPECT_TRUE(root.has(folder + "/" + base::digest_hex(digest)));
  EXPECT_FALSE(root.has(folder + "/" + base::digest_hex(other)));
  ASSERT_TRUE(Originals(fs).drop_unused({}).ok());
  EXPECT_FALSE(root.has(folder));
}

// Before the fix, a sparse file of 4 GiB at each path of a plan filled the disk.
TEST_F(RootFsTest, OriginalsKeepHoles) {
  constexpr std::uintmax_t kSize = (3U << 20U) + 5;
  constexpr std::uintmax_t kMiddle = 2U << 20U;
  const auto room_of = [&](const std::string& path) { return root.info(path).st_blocks * 512; };
  for (const bool text_at_the_end : {false, true}) {
    root.put("/a", "begin");
    std::filesystem::resize_file(root.at("/a"), kMiddle);
    std::ofstream(root.at("/a"), std::ios::app) << "middle";
    std::filesystem::resize_file(root.at("/a"), kSize);
    if (text_at_the_end) std::ofstream(root.at("/a"), std::ios::app) << "end";
    const std::string before = root.content("/a");
    const Image image = image_of("/a");
    const std::string original = std::string(Originals::kFolder) + "/" + base::digest_hex(std::string(image["digest"]));
    EXPECT_LT(room_of(original), 1 << 20);
    ASSERT_TRUE(fs.remove_tree("/a").ok());
    ASSERT_TRUE(fs.restore("/a", image).ok());
    EXPECT_TRUE(root.content("/a") == before);
    EXPECT_LT(room_of("/a"), 1 << 20);
  }
}

TEST_F(RootFsTest, ALostOriginalIsAnErrorAndNotAnEmptyFile) {
  root.put("/a", "content");
  const Image image = image_of("/a");
  ASSERT_TRUE(fs.remove_tree("/var").ok());
  EXPECT_TRUE(fs.restore("/a", image).ok()) << "it is as it was, so nothing is lost";
  root.put("/a", "another");
  const Status restored = fs.restore("/a", image);
  ASSERT_FALSE(restored.ok());
  EXPECT_EQ(restored.error().code, ErrorCode::corrupt);
  EXPECT_EQ(root.content("/a"), "another");
}

TEST_F(RootFsTest, ChangedFoldersGetTheEpochAndOthersKeepTheirTime) {
  root.make_folder("/changed");
  root.make_folder("/other");
  put_file("/changed/f", "x");
  ASSERT_TRUE(fs.settle_directory_times().ok());
  EXPECT_EQ(root.info("/changed").st_mtim.tv_sec, kEpoch);
  EXPECT_EQ(root.info("/changed").st_mtim.tv_nsec, 0);
  EXPECT_NE(root.info("/other").st_mtim.tv_sec, kEpoch);
}

TEST_F(RootFsTest, TwoRunsOverTheSameTreeGiveTheSameBytesAndTimes) {
  TempRoot second;
  for (const TempRoot* tree : {&root, &second}) {
    tree->put("/etc/conf", "old");
    RootFs writer(tree->dir(), kEpoch);
    ASSERT_TRUE(writer.capture("/etc/conf").ok());
    ASSERT_TRUE(writer.stage_file("/etc/conf", "new", 0644, ::geteuid(), ::getegid()).ok());
    ASSERT_TRUE(writer.switch_in("/etc/conf").ok());
    ASSERT_TRUE(writer.stage_symlink("/etc/deep/link", "../conf").ok());
    ASSERT_TRUE(writer.switch_in("/etc/deep/link").ok());
    ASSERT_TRUE(writer.settle_directory_times().ok());
    ASSERT_TRUE(writer.sync().ok());
  }
  EXPECT_EQ(root.listing(), second.listing());
}

// Before the fix, an image with 30,000 nested folders crashed each apply, gc and install with SIGSEGV.
TEST_F(RootFsTest, RemovesATreeOfAnyDepth) {
  slipway::testing::make_deep_tree(root.at("/deep"), 5'000);
  const Status removed = fs.remove_tree("/deep");
  EXPECT_TRUE(removed.ok()) << to_text(removed.error());
  EXPECT_FALSE(root.has("/deep"));
}

TEST_F(RootFsTest, CopiesATreeWithItsModesTimesAndLinksUpToADepth) {
  root.put("/from/a/b/file", "text");
  root.link("/from/a/link", "/nowhere");
  ASSERT_EQ(::chmod(std::string(root.at("/from/a/b")).c_str(), 0711), 0);
  ASSERT_TRUE(copy_tree(root.at("/from"), root.at("/to")).ok());
  EXPECT_EQ(root.content("/to/a/b/file"), "text");
  EXPECT_EQ(root.info("/to/a/b").st_mode & 07777U, 0711U);
  EXPECT_EQ(root.info("/to/a/b").st_mtim.tv_nsec, root.info("/from/a/b").st_mtim.tv_nsec);
  EXPECT_EQ(std::filesystem::read_symlink(root.at("/to/a/link")), "/nowhere");
  slipway::testing::make_deep_tree(root.at("/deep"), 300);
  EXPECT_EQ(copy_tree(root.at("/deep"), root.at("/copy")).error().code, ErrorCode::invalid);
}

TEST_F(RootFsTest, RemovesATreeWithoutFollowingItsLinks) {
  TempRoot outside;
  outside.put("/keep", "me");
  root.put("/store/a/b/c", "x");
  root.link("/store/out", outside.folder());
  ASSERT_TRUE(fs.remove_tree("/store").ok());
  EXPECT_FALSE(root.has("/store"));
  EXPECT_TRUE(outside.has("/keep"));
  EXPECT_TRUE(fs.remove_tree("/store").ok());
}

class PrivilegedRootFsTest : public RootFsTest {
 protected:
  void SetUp() override {
    if (::geteuid() != 0) GTEST_SKIP() << "needs root";
  }
};

TEST_F(PrivilegedRootFsTest, MakesDeviceNodesAndBringsFormerOnesBack) {
  ASSERT_TRUE(fs.make_node("/dev/null0", true, 1, 3, 0666).ok());
  const struct stat made = root.info("/dev/null0");
  EXPECT_TRUE(S_ISCHR(made.st_mode));
  EXPECT_EQ(made.st_rdev, makedev(1, 3));
  const Image image = image_of("/dev/null0");
  ASSERT_TRUE(fs.make_node("/dev/null0", true, 1, 5, 0600).ok());
  bring_back("/dev/null0", image);
  EXPECT_EQ(root.info("/dev/null0").st_rdev, makedev(1, 3));
  EXPECT_EQ(root.mode("/dev/null0"), 0666U);
}

// A file that a container engine has mounted over (resolv.conf and similar) cannot be renamed over: EBUSY.
TEST_F(PrivilegedRootFsTest, AMountedOverFileIsAConflictThatSaysSo) {
  root.put("/source", "mounted");
  root.put("/etc/conf", "below");
  const pid_t child = ::fork();
  if (child == 0) {
    const bool mounted =
        ::unshare(CLONE_NEWNS) == 0 && ::mount("", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0 &&
        ::mount(root.at("/source").c_str(), root.at("/etc/conf").c_str(), nullptr, MS_BIND, nullptr) == 0;
    if (!mounted) ::_exit(77);
    RootFs writer(root.dir(), kEpoch);
    bool right = writer.is_mount_point("/etc/conf") && !writer.is_mount_point("/source");
    right = right && writer.stage_file("/etc/conf", "x", 0644, 0, 0).ok();
    const Status switched = writer.switch_in("/etc/conf");
    right = right && !switched && switched.error().code == ErrorCode::conflict &&
            switched.error().next.find("umount /etc/conf") != std::string::npos;
    ::_exit(right ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  if (WEXITSTATUS(status) == 77) GTEST_SKIP() << "mounting is not allowed here";
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

// Before the fix, with a read-only /usr, a failed apply could not be undone: missing files "cannot be removed".
TEST_F(PrivilegedRootFsTest, WhatIsMissingIsRestoredInAReadOnlyFolderToo) {
  root.put("/usr/there", "kept");
  const pid_t child = ::fork();
  if (child == 0) {
    RootFs writer(root.dir(), kEpoch);
    const auto absent = writer.capture("/usr/lib/slipway/store/f");
    const std::string usr = root.at("/usr");
    const bool mounted = ::unshare(CLONE_NEWNS) == 0 && ::mount("", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0 &&
                         ::mount(usr.c_str(), usr.c_str(), nullptr, MS_BIND, nullptr) == 0 &&
                         ::mount("", usr.c_str(), nullptr, MS_REMOUNT | MS_BIND | MS_RDONLY, nullptr) == 0;
    if (!mounted || !absent) ::_exit(77);
    RootFs again(root.dir(), kEpoch);
    const bool right = again.restore("/usr/lib/slipway/store/f", *absent).ok() && again.remove("/usr/none").ok() &&
                       again.unstage("/usr/none").ok() && again.remove_tree("/usr/none").ok() &&
                       again.remove("/usr/there").error().code == ErrorCode::read_only;
    ::_exit(right ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  if (WEXITSTATUS(status) == 77) GTEST_SKIP() << "mounting is not allowed here";
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

// Before the fix, a removal that a read-only /usr refused could not be undone, although nothing had changed: every
// later apply failed.
TEST_F(PrivilegedRootFsTest, UnchangedFilesAreNotWrittenOnAReadOnlyFileSystem) {
  root.put("/usr/file", "kept");
  root.put("/usr/folder/below", "kept");
  ASSERT_EQ(::symlink("file", root.at("/usr/link").c_str()), 0);
  ASSERT_TRUE(fs.make_node("/usr/null0", true, 1, 3, 0666).ok());
  std::map<std::string, Image> images;
  for (const char* path : {"/usr/file", "/usr/folder", "/usr/link", "/usr/null0"}) images[path] = image_of(path);
  const pid_t child = ::fork();
  if (child == 0) {
    const std::string usr = root.at("/usr");
    const bool mounted = ::unshare(CLONE_NEWNS) == 0 && ::mount("", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0 &&
                         ::mount(usr.c_str(), usr.c_str(), nullptr, MS_BIND, nullptr) == 0 &&
                         ::mount("", usr.c_str(), nullptr, MS_REMOUNT | MS_BIND | MS_RDONLY, nullptr) == 0;
    if (!mounted) ::_exit(77);
    RootFs again(root.dir(), kEpoch);
    bool right = true;
    for (const auto& [path, image] : images) right = right && again.restore(path, image).ok();
    Image other = images["/usr/link"];
    other["points_to"] = "another";
    right = right && again.restore("/usr/link", other).error().code == ErrorCode::read_only;
    ::_exit(right ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  if (WEXITSTATUS(status) == 77) GTEST_SKIP() << "mounting is not allowed here";
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

TEST_F(RootFsTest, RestoresAFileThatDiffersOnlyInContent) {
  root.put("/etc/conf", "one");
  const Image image = image_of("/etc/conf");
  const struct stat before = root.info("/etc/conf");
  bring_back("/etc/conf", image);
  EXPECT_EQ(root.info("/etc/conf").st_ino, before.st_ino);  // it was as desired, so it was not written
  root.put("/etc/conf", "two");
  const struct timespec times[2] = {before.st_atim, before.st_mtim};
  ASSERT_EQ(::utimensat(AT_FDCWD, root.at("/etc/conf").c_str(), times, 0), 0);
  bring_back("/etc/conf", image);
  EXPECT_EQ(root.content("/etc/conf"), "one");
}

TEST_F(PrivilegedRootFsTest, AReadOnlyRootIsAnErrorThatSaysWhatToDo) {
  const pid_t child = ::fork();
  if (child == 0) {
    const char* folder = root.folder().c_str();
    const bool mounted = ::unshare(CLONE_NEWNS) == 0 && ::mount("", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0 &&
                         ::mount(folder, folder, nullptr, MS_BIND, nullptr) == 0 &&
                         ::mount("", folder, nullptr, MS_REMOUNT | MS_BIND | MS_RDONLY, nullptr) == 0;
    if (!mounted) ::_exit(77);
    RootFs writer(root.dir(), kEpoch);
    const Status staged = writer.stage_file("/f", "x", 0644, 0, 0);
    ::_exit(!staged && staged.error().code == ErrorCode::read_only && !staged.error().next.empty() ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  if (WEXITSTATUS(status) == 77) GTEST_SKIP() << "mounting is not allowed here";
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

TEST_F(PrivilegedRootFsTest, AFullDiskIsAnErrorAndLeavesNothingBehind) {
  const pid_t child = ::fork();
  if (child == 0) {
    const char* folder = root.folder().c_str();
    const bool mounted = ::unshare(CLONE_NEWNS) == 0 && ::mount("", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0 &&
                         ::mount("tmpfs", folder, "tmpfs", 0, "size=64k") == 0;
    if (!mounted) ::_exit(77);
    RootFs writer(root.dir(), kEpoch);
    const Status staged = writer.stage_file("/f", std::string(1 << 20, 'x'), 0644, 0, 0);
    const bool right = !staged && staged.error().code == ErrorCode::no_space && !root.has("/f.slipway-new");
    ::_exit(right ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  if (WEXITSTATUS(status) == 77) GTEST_SKIP() << "mounting is not allowed here";
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

TEST(FoldersAbove, AreNamedOutermostFirst) {
  EXPECT_EQ(folders_above("/a/b/c"), (std::vector<std::string>{"/a", "/a/b"}));
  EXPECT_EQ(folders_above("/a//b/"), (std::vector<std::string>{"/a"}));
  EXPECT_TRUE(folders_above("/a").empty());
}

// The process' files in /proc can then no longer be read; a stream buffer throws in that case.
TEST(OpenRegular, OfAProcessThatEndsMeanwhileIsAnError) {
  const pid_t child = ::fork();
  if (child == 0) {
    ::pause();
    ::_exit(0);
  }
  const auto file = open_regular("/proc/" + std::to_string(child) + "/stat");
  ASSERT_TRUE(file.ok()) << to_text(file.error());
  ::kill(child, SIGKILL);
  ASSERT_EQ(::waitpid(child, nullptr, 0), child);
  EXPECT_FALSE(read_all(file->get(), "stat", 4096).ok());
}

// Opening a FIFO blocks, and opening a device may have effects.
TEST(OpenRegular, OpensOnlyRegularFilesInsideTheRoot) {
  const TempRoot root;
  root.put("/etc/file", "text");
  root.link("/etc/link", "/etc/file");
  ASSERT_EQ(::mkfifo(root.at("/etc/fifo").c_str(), 0600), 0);
  const auto content = [&](const std::string& path, int flags = 0) {
    const auto file = open_regular(root.dir(), path, flags);
    return file ? read_all(file->get(), path, 100).value_or("unread") : file.error().what;
  };
  EXPECT_EQ(content("/etc/file"), "text");
  EXPECT_EQ(content("/etc/link"), "text");
  EXPECT_NE(content("/etc/link", O_NOFOLLOW), "text");
  EXPECT_EQ(content("/etc/fifo"), "/etc/fifo is not a regular file but a FIFO");
  EXPECT_EQ(content("/etc"), "/etc is not a regular file but a folder");
}

}  // namespace
}  // namespace slipway::core
