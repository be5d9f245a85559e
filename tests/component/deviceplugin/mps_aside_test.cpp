// SPDX-License-Identifier: Apache-2.0
// What becomes of the folders of MPS that pods filled, gave away or closed, so that the service cannot empty them.
#include <algorithm>
#include <array>
#include <atomic>
#include <thread>

#include <fcntl.h>
#include <linux/capability.h>
#include <sys/inotify.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "deviceplugin/service/mps/emptying.hpp"
#include "deviceplugin/service/mps/unit.hpp"
#include "tests/component/deviceplugin/mps_node.hpp"

namespace slipway {
namespace {

namespace fs = std::filesystem;
using deviceplugin::Emptied;
using slipway::testing::eventually;
using slipway::testing::kGpuResource;
using slipway::testing::Mps;
using slipway::testing::RunningService;
using slipway::testing::ScratchHost;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;
using namespace std::chrono_literals;

constexpr uid_t kSomebody = 1000;
constexpr const char* kEmptyProgram = SLIPWAY_TEST_PLUGINS "/deviceplugin-empty";

Emptied emptied(const fs::path& folder, std::size_t most) {
  return deviceplugin::empty_folder(deviceplugin::open_folder(folder), most);
}

void fill(const fs::path& folder, int files) {
  fs::create_directories(folder);
  for (int i = 0; i < files; ++i) std::ofstream(folder / std::to_string(i)) << "";
}

/// Runs deviceplugin-empty as root with these capabilities alone, as its unit does it. @return the exit status
int run_empty(const std::vector<fs::path>& folders, const std::vector<int>& capabilities) {
  const pid_t child = ::fork();
  if (child == 0) {
    for (int each = 0; ::prctl(PR_CAPBSET_READ, each) >= 0; ++each)
      if (std::ranges::find(capabilities, each) == capabilities.end()) ::prctl(PR_CAPBSET_DROP, each);
    std::vector<const char*> words{kEmptyProgram};
    for (const fs::path& folder : folders) words.push_back(folder.c_str());
    words.push_back(nullptr);
    ::execv(kEmptyProgram, const_cast<char* const*>(words.data()));
    ::_exit(127);
  }
  int status = -1;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

class Emptying : public ::testing::Test {
 protected:
  ScratchHost host_;
  const fs::path folder_ = host_.path("pipe");
};

TEST_F(Emptying, GoesOnWhereItWasInterrupted) {
  fill(folder_ / "inner", 100);
  EXPECT_EQ(emptied(folder_, 50), Emptied::some);
  EXPECT_FALSE(fs::is_empty(folder_));
  for (int turn = 0; turn < 10 && emptied(folder_, 50) != Emptied::all; ++turn) {
  }
  EXPECT_TRUE(fs::is_empty(folder_));
}

// Names that were counted from 1 in each turn found all of these taken, and a turn came to nothing.
TEST_F(Emptying, TakesNoNameThatAPodCouldHaveTaken) {
  constexpr int kTaken = 100;
  for (int i = 0; i < kTaken; ++i) fs::create_directories(folder_ / (".slipway-" + std::to_string(i)) / "a/b/c");
  int turns = 0;
  while (turns++ < 100 && emptied(folder_, kTaken / 2) != Emptied::all) {
  }
  EXPECT_TRUE(fs::is_empty(folder_)) << "after " << turns << " turns";
}

// It gave up at the first name that it could not remove, and left the rest.
TEST_F(Emptying, RemovesAllThatItCan) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root gives files away";
  for (int i = 0; i < 20; ++i) fill(folder_ / std::to_string(i), 1);
  const fs::path stays = folder_ / "7";
  ASSERT_EQ(::chown(stays.c_str(), kSomebody, kSomebody), 0);
  fs::permissions(stays, fs::perms(0555));
  ASSERT_EQ(run_empty({folder_}, {}), 0);
  std::vector<fs::path> left;
  for (const auto& entry : fs::directory_iterator(folder_)) left.push_back(entry.path());
  EXPECT_THAT(left, ::testing::ElementsAre(stays));
}

/// All that a pod, which is root and the owner, can put in the way.
void make_hostile(const fs::path& folder, const fs::path& outside) {
  fill(folder / "closed", 3);
  fill(folder / "sticky", 3);
  fs::create_symlink(outside, folder / "link");
  fs::create_symlink(outside, folder / "sticky/link");
  ASSERT_EQ(::mkfifo((folder / "fifo").c_str(), 0), 0);
  Fd inner(::open(folder.c_str(), O_PATH | O_CLOEXEC));
  for (int i = 0; i < 500; ++i) {  // longer than any path
    ASSERT_EQ(::mkdirat(inner.get(), "a-long-name", 0755), 0);
    const Fd next(::openat(inner.get(), "a-long-name", O_RDONLY | O_CLOEXEC));
    ASSERT_EQ(::fchown(next.get(), kSomebody + 1, kSomebody), 0);
    ASSERT_EQ(::fchmod(next.get(), 0), 0);
    inner = Fd(::openat(inner.get(), "a-long-name", O_PATH | O_CLOEXEC));
  }
  ASSERT_EQ(::chown((folder / "sticky").c_str(), kSomebody, kSomebody), 0);
  ASSERT_EQ(::chmod((folder / "sticky").c_str(), 01777), 0);
  ASSERT_EQ(::chmod((folder / "closed").c_str(), 0), 0);
  ASSERT_EQ(::chown(folder.c_str(), kSomebody + 2, kSomebody), 0);
  ASSERT_EQ(::chmod(folder.c_str(), 01000), 0);
}

TEST_F(Emptying, OfWhatAPodGaveAwayAndClosedTakesTwoPowers) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root gives files away";
  host_.put("outside/file", "text");
  fs::create_directories(folder_);
  make_hostile(folder_, host_.path("outside"));
  ASSERT_EQ(run_empty({folder_}, {}), 0);
  EXPECT_FALSE(fs::is_empty(folder_)) << "the device plugin could have done it";
  ASSERT_EQ(run_empty({folder_}, {CAP_DAC_OVERRIDE}), 0);
  EXPECT_FALSE(fs::is_empty(folder_)) << "one would do";
  ASSERT_EQ(run_empty({folder_}, {CAP_DAC_OVERRIDE, CAP_FOWNER}), 0);
  EXPECT_TRUE(fs::is_empty(folder_));
  EXPECT_EQ(host_.text("outside/file"), "text");
}

/// A folder that becomes a link, again and again, for who empties the folder around it.
void exchange_for_link(const fs::path& name, const fs::path& target) {
  const fs::path link = target.string() + "-link";
  std::error_code ignored;
  for (int i = 0; i < 5'000; ++i) {
    fs::create_symlink(target, link, ignored);
    ::mkdir(name.c_str(), 0755);
    ::mkdir((name / "inner").c_str(), 0755);
    (void)::renameat2(AT_FDCWD, name.c_str(), AT_FDCWD, link.c_str(), RENAME_EXCHANGE);
    if (::rmdir((link / "inner").c_str()) == 0) ::rmdir(link.c_str());
  }
}

TEST_F(Emptying, FollowsNoLinkThatIsPutInAFoldersPlaceMeanwhile) {
  host_.put("outside/file", "text");
  fs::create_directories(folder_);
  std::atomic<bool> over = false;
  std::thread pod([&] {
    exchange_for_link(folder_ / "name", host_.path("outside"));
    over = true;
  });
  while (!over) (void)emptied(folder_, 100);
  pod.join();
  EXPECT_EQ(host_.text("outside/file"), "text");
}

/// From which of the folders files were removed, in that order, as the kernel tells it.
class Deletions {
 public:
  int watch(const fs::path& folder) const { return ::inotify_add_watch(told_.get(), folder.c_str(), IN_DELETE); }
  /// The numbers that watch() gave, one for each file.
  std::vector<int> read() const {
    std::vector<int> folders;
    alignas(inotify_event) std::array<char, 4096> bytes{};
    for (ssize_t count = 0; (count = ::read(told_.get(), bytes.data(), bytes.size())) > 0;)
      for (ssize_t at = 0; at < count;) {
        const auto* const event = reinterpret_cast<const inotify_event*>(bytes.data() + at);
        folders.push_back(event->wd);
        at += static_cast<ssize_t>(sizeof(inotify_event) + event->len);
      }
    return folders;
  }

 private:
  Fd told_{::inotify_init1(IN_NONBLOCK | IN_CLOEXEC)};
};

// A pod that goes on filling its folder would keep those after it full.
TEST_F(Emptying, OfAFolderThatTakesLongKeepsNoOtherOneFull) {
  const fs::path large = host_.path("large");
  fill(large, 100);
  fill(folder_, 1);
  const Deletions deletions;
  const int first = deletions.watch(large);
  const int second = deletions.watch(folder_);
  deviceplugin::empty_folders({large, folder_}, 50);
  EXPECT_TRUE(fs::is_empty(large));
  const std::vector<int> order = deletions.read();
  EXPECT_THAT(order, Contains(second));
  ASSERT_EQ(order.size(), 101U);
  EXPECT_EQ(order.back(), first) << "the large one was emptied before the other one's turn came";
}

TEST(EmptyingUnit, MayWriteToThoseFoldersAlone) {
  const auto words = systemd_run_words(
      deviceplugin::emptying_unit("/usr/lib/slipway/plugins/deviceplugin-empty", {"/srv/a b/x.aside-0", "/srv/y"}));
  for (const char* word :
       {"--property=ProtectSystem=strict", "--property=ReadWritePaths=\"-/srv/a b/x.aside-0\" \"-/srv/y\"",
        "--property=CapabilityBoundingSet=CAP_DAC_OVERRIDE CAP_FOWNER", "--property=RuntimeMaxSec=300"})
    EXPECT_THAT(words, Contains(word));
  EXPECT_EQ(std::ranges::count_if(words, [](const auto& word) { return word.starts_with("--property=ReadWrite"); }), 1);
  EXPECT_THAT(words, Not(Contains(HasSubstr("BindPaths"))));
}

class AsideFolders : public Mps {
 protected:
  fs::path place(const std::string& name) const { return node_.host().path(kFolder + name); }
  std::vector<std::string> aside() const {
    std::vector<std::string> names;
    for (const auto& entry : fs::directory_iterator(place("")))
      if (const std::string name = entry.path().filename(); name.starts_with("pipe.aside-")) names.push_back(name);
    return names;
  }
  /// So that the service cannot have it back.
  static void give_away(const fs::path& folder) { ASSERT_EQ(::chown(folder.c_str(), kSomebody, kSomebody), 0); }
};

TEST_F(AsideFolders, AreRemovedWhileTheServiceRuns) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root gives files away";
  RunningService service(node_.host(), node_.words());
  ASSERT_TRUE(ready(service)) << service.log();
  const pid_t first = daemon();
  const Fd kept(::open(place("pipe").c_str(), O_PATH | O_CLOEXEC));  // as a pod has it
  node_.host().put(kFolder + "pipe/deep/file", "");
  give_away(place("pipe"));
  fs::remove(place("pipe/control_lock"));
  EXPECT_TRUE(eventually([&] { return daemon() > 0 && daemon() != first && kubelet_.healthy(kGpuResource) == 8; }))
      << service.log();
  EXPECT_TRUE(says(service, "it was moved aside")) << service.log();
  EXPECT_TRUE(says(service, "pipe.aside-0, which pods had left")) << service.log();
  EXPECT_TRUE(aside().empty());
  EXPECT_LT(::mkdirat(kept.get(), "more", 0755), 0) << "the pod can go on filling it";
}

// An administrator had to remove them before MPS went on.
TEST_F(AsideFolders, OfPodsThatAreGoneStandInNobodysWay) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root gives files away";
  for (int i = 0; i < 100; ++i) node_.host().put(kFolder + "pipe.aside-" + std::to_string(i) + "/deep/file", "");
  node_.host().put(kFolder + "pipe/deep/file", "");
  give_away(place("pipe"));
  RunningService service(node_.host(), node_.words());
  ASSERT_TRUE(ready(service)) << service.log();
  EXPECT_TRUE(eventually([&] { return aside().empty(); })) << aside().size() << service.log();
}

// Its daemon was taken over twice, and ended by the one that nobody wanted; folders outside could be emptied.
TEST_F(AsideFolders, AndDaemonsAreNotLookedForInSharedMemory) {
  {
    RunningService service(node_.host(), node_.words());
    ASSERT_TRUE(ready(service)) << service.log();
    service.signal(SIGKILL);
    (void)service.exit_code();
  }
  const pid_t first = daemon();
  const auto shm = node_.host().path("run/nvidia/mps/shm");
  fs::create_directories(shm / "pod");
  fs::create_symlink("../../nvidia.com/gpu/pipe", shm / "pod/pipe");
  node_.host().put("outside/pipe.aside-0/file", "text");
  fs::create_symlink("../../../../outside", shm / "link");
  fs::create_directories(place("pipe.aside-0"));
  RunningService service(node_.host(), node_.words());
  ASSERT_TRUE(ready(service)) << service.log();
  EXPECT_TRUE(eventually([&] { return aside().empty(); })) << service.log();
  EXPECT_EQ(daemon(), first) << service.log();
  EXPECT_EQ(node_.host().text("outside/pipe.aside-0/file"), "text");
}

}  // namespace
}  // namespace slipway
