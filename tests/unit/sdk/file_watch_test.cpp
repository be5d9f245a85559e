// SPDX-License-Identifier: Apache-2.0
#include <fstream>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <slipway/testing/temp_dir.hpp>
#include <slipway/watch/file_watch.hpp>

namespace slipway {
namespace {

namespace fs = std::filesystem;
using testing::TempDir;

class FileWatchTest : public ::testing::Test {
 protected:
  FileWatch watch(std::vector<std::string> paths) const {
    return std::move(*FileWatch::open(*RootDir::open(tree_.string()), std::move(paths)));
  }
  fs::path at(const std::string& path) const { return tree_.at(path); }

  TempDir tree_;
};

bool readable(const FileWatch& watch) {
  pollfd watched{watch.fd(), POLLIN, 0};
  return ::poll(&watched, 1, 0) == 1;
}

void listen_at(const fs::path& path) {
  const Fd fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  path.string().copy(address.sun_path, sizeof address.sun_path - 1);
  ASSERT_EQ(::bind(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
}

TEST_F(FileWatchTest, ReportsAFileThatAppearsIsWrittenReplacedAndVanishes) {
  tree_.directory("/k");
  FileWatch files = watch({"/k/file"});
  EXPECT_FALSE(readable(files));
  EXPECT_FALSE(files.take());
  tree_.file("/k/file", "one");
  EXPECT_TRUE(readable(files));
  EXPECT_TRUE(files.take());
  EXPECT_FALSE(readable(files)) << "all of it was taken";
  EXPECT_FALSE(files.take());
  std::ofstream(at("/k/file"), std::ios::app) << "two";
  EXPECT_TRUE(files.take());
  tree_.file("/k/new", "three");
  EXPECT_FALSE(files.take());
  fs::rename(at("/k/new"), at("/k/file"));
  EXPECT_TRUE(files.take());
  std::ofstream(at("/k/file"), std::ios::app) << "four";
  EXPECT_TRUE(files.take()) << "the file that took its place is watched";
  fs::permissions(at("/k/file"), fs::perms::owner_read);
  EXPECT_TRUE(files.take());
  fs::remove(at("/k/file"));
  EXPECT_TRUE(files.take());
  EXPECT_FALSE(files.take());
  EXPECT_EQ(files.problem(), "");
}

TEST_F(FileWatchTest, ReportsASocketThatTookThePlaceOfAnother) {
  tree_.directory("/k");
  listen_at(at("/k/kubelet.sock"));
  FileWatch files = watch({"/k/kubelet.sock"});
  fs::remove(at("/k/kubelet.sock"));
  listen_at(at("/k/kubelet.sock"));
  EXPECT_TRUE(files.take()) << "also where the inode has the same number";
  EXPECT_FALSE(files.take());
}

TEST_F(FileWatchTest, ReportsAFileWhoseFoldersWereMissingAtFirst) {
  FileWatch files = watch({"/var/lib/kubelet/device-plugins/kubelet.sock"});
  tree_.directory("/var/lib");
  EXPECT_FALSE(files.take());
  tree_.directory("/var/lib/kubelet/device-plugins");
  EXPECT_FALSE(files.take());
  listen_at(at("/var/lib/kubelet/device-plugins/kubelet.sock"));
  EXPECT_TRUE(files.take());
}

TEST_F(FileWatchTest, ReportsAFileThatCameTogetherWithItsFolders) {
  FileWatch files = watch({"/a/b/c/file"});
  tree_.file("/a/b/c/file", "");
  EXPECT_TRUE(files.take());
}

TEST_F(FileWatchTest, FollowsAFolderThatIsRemovedAndMadeAgain) {
  tree_.file("/var/kubelet/file", "");
  FileWatch files = watch({"/var/kubelet/file"});
  for (int i = 0; i < 3; ++i) {
    fs::remove_all(at("/var"));
    EXPECT_TRUE(files.take());
    tree_.directory("/var");
    EXPECT_FALSE(files.take());
    tree_.file("/var/kubelet/file", "");
    EXPECT_TRUE(files.take());
    EXPECT_FALSE(files.take());
  }
  EXPECT_EQ(files.problem(), "");
}

TEST_F(FileWatchTest, FollowsAFolderFurtherUpThatIsReplaced) {
  tree_.file("/a/b/c/file", "");
  FileWatch files = watch({"/a/b/c/file"});
  fs::rename(at("/a"), at("/former"));
  EXPECT_TRUE(files.take()) << "the path leads nowhere";
  tree_.directory("/a/b/c");
  EXPECT_FALSE(files.take());
  std::ofstream(at("/former/b/c/file")) << "x";
  EXPECT_FALSE(files.take()) << "that one is not at the path any more";
  tree_.file("/a/b/c/file", "");
  EXPECT_TRUE(files.take());
}

// An empty folder that is the current folder of a process remains in the kernel after rmdir(2), and inotify does not
// report its removal.
TEST_F(FileWatchTest, FollowsAFolderThatIsRemovedWhileItIsOpen) {
  tree_.directory("/a/b");
  FileWatch files = watch({"/a/b/file"});
  const RootDir open = *RootDir::open(at("/a/b").string());
  fs::remove(at("/a/b"));
  (void)files.take();
  tree_.file("/a/b/file", "");
  EXPECT_TRUE(files.take());
}

TEST_F(FileWatchTest, FollowsLinksInsideTheRootAndReportsWhenTheyLeadElsewhere) {
  tree_.file("/data/one/file", "");
  tree_.file("/data/two/file", "");
  tree_.link("/var/kubelet", "/data/one");
  FileWatch files = watch({"/var/kubelet/file"});
  std::ofstream(at("/data/one/file")) << "x";
  EXPECT_TRUE(files.take());
  std::ofstream(at("/data/two/file")) << "x";
  EXPECT_FALSE(files.take());
  tree_.link("/var/next", "../data/two");
  fs::rename(at("/var/next"), at("/var/kubelet"));
  EXPECT_TRUE(files.take());
  std::ofstream(at("/data/two/file")) << "y";
  EXPECT_TRUE(files.take());
}

TEST_F(FileWatchTest, DoesNotFollowALinkOutOfTheRoot) {
  const TempDir outside;
  outside.file("secret", "");
  tree_.link("/link", outside.at("secret").string());
  tree_.link("/up", "../../../../../../.." + outside.at("secret").string());
  FileWatch files = watch({"/link", "/up"});
  std::ofstream(outside.at("secret")) << "x";
  EXPECT_FALSE(readable(files));
  EXPECT_FALSE(files.look());
}

TEST_F(FileWatchTest, EndsAtLinksThatLeadInCircles) {
  tree_.link("/a", "/b");
  tree_.link("/b", "/a");
  FileWatch files = watch({"/a/file"});
  fs::remove(at("/a"));
  tree_.file("/a/file", "");
  EXPECT_TRUE(files.take());
}

TEST_F(FileWatchTest, ReportsTheEntriesOfAFolder) {
  tree_.directory("/configs");
  FileWatch files = watch({"/configs"});
  tree_.file("/configs/one", "");
  EXPECT_TRUE(files.take());
  std::ofstream(at("/configs/one")) << "x";
  EXPECT_TRUE(files.take());
  fs::remove(at("/configs/one"));
  EXPECT_TRUE(files.take());
  EXPECT_FALSE(files.take());
}

TEST_F(FileWatchTest, IsNotDisturbedByOtherFilesInTheSameFolder) {
  tree_.file("/k/watched", "");
  FileWatch files = watch({"/k/watched"});
  for (int i = 0; i < 100; ++i) tree_.file("/k/other" + std::to_string(i), "x");
  EXPECT_FALSE(files.take());
}

// /dev is such a folder: each command that discards its output writes to a file in it.
TEST_F(FileWatchTest, IsNotWokenByWritesToOtherFilesInTheSameFolder) {
  tree_.file("/dev/null", "");
  FileWatch files = watch({"/dev/nvidia0"});
  std::ofstream(at("/dev/null"), std::ios::app) << "x";
  EXPECT_FALSE(readable(files));
}

TEST_F(FileWatchTest, CountsAQueueThatOverflowedAsAChange) {
  tree_.directory("/k");
  FileWatch files = watch({"/k/watched"});
  std::ifstream limit("/proc/sys/fs/inotify/max_queued_events");
  int most = 0;
  limit >> most;
  ASSERT_GT(most, 0);
  tree_.file("/k/one", "");
  tree_.file("/k/two", "");
  const Fd one(::open(at("/k/one").c_str(), O_RDONLY | O_CLOEXEC));
  const Fd two(::open(at("/k/two").c_str(), O_RDONLY | O_CLOEXEC));
  // Alternates, because inotify drops an event that equals the one before it.
  for (int i = 0; i < most + 2; ++i) ASSERT_EQ(::fchmod(i % 2 == 0 ? one.get() : two.get(), 0600), 0);
  bool changed = false;
  while (readable(files)) changed = files.take() || changed;
  EXPECT_TRUE(changed);
  tree_.file("/k/watched", "");
  EXPECT_TRUE(files.take()) << "and goes on";
}

TEST_F(FileWatchTest, WatchesOtherPathsWhenItIsReported) {
  FileWatch files = watch({"/one"});
  ASSERT_TRUE(files.watch({"/two", "/three"}).ok());
  tree_.file("/one", "");
  EXPECT_FALSE(files.take());
  tree_.file("/three", "");
  EXPECT_TRUE(files.take());
}

TEST_F(FileWatchTest, ChecksThePathsAlsoWhenNothingIsReported) {
  FileWatch files = watch({"/a/file"});
  EXPECT_FALSE(files.look());
  tree_.file("/a/file", "");
  EXPECT_TRUE(files.look());
  EXPECT_FALSE(files.look());
  EXPECT_FALSE(files.take());
}

TEST_F(FileWatchTest, RefusesRelativePathsAndTooManyAndKeepsWhatItWatches) {
  FileWatch files = watch({"/file"});
  EXPECT_EQ(files.watch({"relative"}).error().code, ErrorCode::invalid);
  const std::vector<std::string> many(FileWatch::kMostPaths + 1, "/x");
  EXPECT_EQ(files.watch(many).error().code, ErrorCode::invalid);
  tree_.file("/file", "");
  EXPECT_TRUE(files.take());
}

}  // namespace
}  // namespace slipway
