// SPDX-License-Identifier: Apache-2.0
// The fate of MPS folders that pods filled, gave away or closed, so that the service cannot empty them.
#include <algorithm>
#include <atomic>
#include <thread>

#include <fcntl.h>
#include <linux/capability.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <slipway/local_host.hpp>

#include "deviceplugin/service/mps/pipe/aside_folders.hpp"
#include "deviceplugin/service/mps/pipe/emptying.hpp"
#include "deviceplugin/service/mps/pipe/pipe_folder.hpp"
#include "deviceplugin/service/mps/system/unit.hpp"
#include "tests/component/deviceplugin/held.hpp"
#include "tests/component/deviceplugin/mps_node.hpp"

namespace slipway {
namespace {

namespace fs = std::filesystem;
using deviceplugin::Emptied;
using slipway::testing::eventually;
using slipway::testing::Held;
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

/// Runs deviceplugin-empty as root with only these capabilities, like its unit. @return the exit status
int run_empty(const std::vector<fs::path>& folders, const std::vector<int>& capabilities) {
  std::vector<const char*> words{kEmptyProgram};
  for (const fs::path& folder : folders) words.push_back(folder.c_str());
  words.push_back(nullptr);
  const pid_t child = ::fork();
  if (child == 0) {
    for (int each = 0; ::prctl(PR_CAPBSET_READ, each) >= 0; ++each)
      if (std::ranges::find(capabilities, each) == capabilities.end()) ::prctl(PR_CAPBSET_DROP, each);
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

TEST_F(Emptying, ContinuesWhereItWasInterrupted) {
  fill(folder_ / "inner", 100);
  EXPECT_EQ(emptied(folder_, 50), Emptied::some);
  EXPECT_FALSE(fs::is_empty(folder_));
  for (int turn = 0; turn < 10 && emptied(folder_, 50) != Emptied::all; ++turn) {
  }
  EXPECT_TRUE(fs::is_empty(folder_));
}

// Before the fix, each turn counted names from 1, found all of these taken, and achieved nothing.
TEST_F(Emptying, UsesNoNameThatAPodCouldChoose) {
  constexpr int kTaken = 100;
  for (int i = 0; i < kTaken; ++i) fs::create_directories(folder_ / (".slipway-" + std::to_string(i)) / "a/b/c");
  int turns = 0;
  while (turns++ < 100 && emptied(folder_, kTaken / 2) != Emptied::all) {
  }
  EXPECT_TRUE(fs::is_empty(folder_)) << "after " << turns << " turns";
}

// Before the fix, the emptying gave up at the first name that it could not remove.
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

/// Creates all obstacles that a pod, which is root and the owner, can create.
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

TEST_F(Emptying, OfForeignLockedFoldersNeedsTwoCapabilities) {
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

/// Repeatedly replaces a folder by a link, while the folder around it is emptied.
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

TEST_F(Emptying, FollowsNoLinkThatReplacesAFolder) {
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

// Removing a folder blocks while another process works in it, with the parent's lock held.
TEST_F(Emptying, MarksAnEmptiedFolder) {
  fill(folder_, 1);
  EXPECT_FALSE(deviceplugin::emptied_aside(folder_));
  ASSERT_EQ(run_empty({folder_}, {}), 0);
  EXPECT_TRUE(deviceplugin::emptied_aside(folder_));
}

TEST(EmptyingUnit, MayWriteToThatFolderAlone) {
  const auto unit =
      deviceplugin::emptying_unit("/usr/lib/slipway/plugins/deviceplugin-empty", "/srv/a $b/nvidia.com/.gpu.aside-0");
  EXPECT_EQ(unit.name, "slipway-mps-aside-nvidia.com-gpu.aside-0.service");
  const auto words = systemd_run_words(unit);
  for (const char* word :
       {"--property=ProtectSystem=strict", "--property=ReadWritePaths=\"/srv/a $b/nvidia.com/.gpu.aside-0\"",
        "--property=CapabilityBoundingSet=CAP_DAC_OVERRIDE CAP_FOWNER", "--property=RuntimeMaxSec=300"})
    EXPECT_THAT(words, Contains(word));
  EXPECT_EQ(std::ranges::count_if(words, [](const auto& word) { return word.starts_with("--property=ReadWrite"); }), 1);
  EXPECT_THAT(words, Not(Contains(HasSubstr("BindPaths"))));
}

// Before the fix, systemd expanded a variable there.
TEST(TransientUnit, HasNoVariablesInTheWordsOfItsCommand) {
  const auto words = deviceplugin::systemd_run_words({.name = "x.service",
                                                      .description = {},
                                                      .environment = {},
                                                      .argv = {"/srv/$a/program", "/srv/$b/${c}"},
                                                      .properties = {},
                                                      .newest = {}});
  const std::vector<std::string> command(words.end() - 3, words.end());
  EXPECT_THAT(command, ::testing::ElementsAre("--", "/srv/$a/program", "/srv/$$b/$${c}"));
}

TEST(DaemonUnit, ReachesNeitherSystemdNorAnEngine) {
  const auto words = systemd_run_words(deviceplugin::daemon_unit({.resource = kGpuResource,
                                                                  .environment = {},
                                                                  .argv = {"/usr/bin/nvidia-cuda-mps-control", "-f"},
                                                                  .pipe_folder = "/run/nvidia/mps/nvidia.com/gpu/pipe",
                                                                  .log_folder = "/run/nvidia/mps/nvidia.com/gpu/log",
                                                                  .shm_folder = "/run/nvidia/mps/shm"}));
  for (const char* path : {"/run/systemd/private", "/run/dbus", "/run/containerd/containerd.sock", "/run/slipway"})
    EXPECT_THAT(words, Contains(::testing::AllOf(StartsWith("--property=InaccessiblePaths="),
                                                 HasSubstr("-" + std::string(path)))));
}

class AsideFolders : public Mps {
 protected:
  fs::path place(const std::string& name) const { return node_.host().path(kFolder + name); }
  fs::path aside(int number) const { return deviceplugin::aside_name(place("").parent_path(), number); }
  bool any_aside() const {
    const fs::directory_iterator all(place("").parent_path().parent_path());
    return std::any_of(begin(all), end(all),
                       [](const auto& each) { return deviceplugin::is_aside(each.path().filename()); });
  }
  /// Gives the folder to another user, so that the service cannot take it back.
  static void give_away(const fs::path& folder) { ASSERT_EQ(::chown(folder.c_str(), kSomebody, kSomebody), 0); }
};

TEST_F(AsideFolders, AreRemovedWhileTheServiceRuns) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root gives files away";
  RunningService service(node_.host(), node_.words());
  ASSERT_TRUE(ready(service)) << service.log();
  const pid_t first = daemon();
  const Fd kept(::open(place("pipe").c_str(), O_PATH | O_CLOEXEC));  // as a pod holds it
  node_.host().put(kFolder + "pipe/deep/file", "");
  give_away(place("pipe"));
  fs::remove(place("pipe/control_lock"));
  EXPECT_TRUE(eventually([&] { return daemon() > 0 && daemon() != first && kubelet_.healthy(kGpuResource) == 8; }))
      << service.log();
  EXPECT_TRUE(eventually([&] { return !any_aside(); })) << service.log();
  EXPECT_LT(::mkdirat(kept.get(), "more", 0755), 0) << "the pod can go on filling it";
}

// Before the fix, an administrator had to remove them before MPS worked again.
TEST_F(AsideFolders, OfDeletedPodsDoNotDelayOtherPods) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root gives files away";
  for (int i = 0; i < 10; ++i) fill(aside(i) / "pipe/deep", 1);
  for (int i = 0; i < 100; ++i)  // names of the former version
    node_.host().put(kFolder + "pipe.aside-" + std::to_string(i) + "/deep/file", "");
  node_.host().put(kFolder + "pipe/deep/file", "");
  give_away(place("pipe"));
  RunningService service(node_.host(), node_.words());
  ASSERT_TRUE(ready(service)) << service.log();
  EXPECT_TRUE(eventually([&] { return !any_aside(); })) << service.log();
  EXPECT_FALSE(fs::exists(place("pipe.aside-0")));
}

// Before the fix, one process emptied all folders in turns, so that one tenant could block the folders of others.
TEST_F(AsideFolders, ThatATenantKeepsLockedDoNotDelayOtherTenants) {
  const fs::path others = aside(0).parent_path() / ".other.aside-0";
  fill(others / "pipe/deep", 1);
  fill(aside(0) / "pipe", 1);
  {
    const Held folder(aside(0) / "pipe");
    const Held file(aside(0) / "pipe/0");
    if (!folder || !file) GTEST_SKIP() << "the kernel gives nobody such memory";
    RunningService service(node_.host(), node_.words());
    ASSERT_TRUE(ready(service)) << service.log();
    EXPECT_TRUE(eventually([&] { return !fs::exists(others); })) << service.log();
    EXPECT_TRUE(fs::exists(aside(0)));
    service.signal(SIGTERM);
    EXPECT_EQ(service.exit_code(), 0) << service.log();
  }
  RunningService service(node_.host(), node_.words());
  EXPECT_TRUE(eventually([&] { return !any_aside(); })) << "with the pod ended: " << service.log();
}

/// The folders without the service, with the test's clock.
class StuckAsideFolder : public ::testing::Test {
 protected:
  void tick() {
    folders_.tick("/mps", now_);
    now_ += 6s;
  }
  ScratchHost scratch_;
  const std::unique_ptr<Host> host_ = *open_host({.root = scratch_.folder().at("root").string()});
  std::string log_;
  deviceplugin::AsideFolders::Clock::time_point now_{};
  deviceplugin::AsideFolders folders_{
      *host_, [this](const char* level, const std::string& text) { log_ += level + (": " + text + "\n"); },
      "/bin/true"};
};

// Before the fix, systemd answered "already loaded" forever, and no message reported it.
TEST_F(StuckAsideFolder, IsLoggedOnceAndWhenItIsRemoved) {
  scratch_.put("mps/nvidia.com/.gpu.aside-0/pipe/file", "");
  const fs::path folder = scratch_.path("mps/nvidia.com/.gpu.aside-0");
  for (int i = 0; i < 50; ++i) tick();
  EXPECT_EQ(log_, "") << "it may still be emptied";
  for (int i = 0; i < 50; ++i) tick();
  EXPECT_THAT(log_, StartsWith("warning: " + folder.string() + " cannot be removed"));
  EXPECT_EQ(std::ranges::count(log_, '\n'), 1) << log_;
  deviceplugin::empty_aside(folder);
  tick();
  EXPECT_THAT(log_, HasSubstr("info: removed " + folder.string()));
  EXPECT_FALSE(fs::exists(folder));
}

// Before the fix, a pod's link in the shared memory counted as another folder of a daemon: the daemon was taken over
// twice, and ended by the unwanted entry; folders outside could be emptied.
TEST_F(AsideFolders, AreNotSearchedInSharedMemory) {
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
  node_.host().put("outside/.pipe.aside-0/file", "text");
  fs::create_symlink("../../../../outside", shm / "link");
  fs::create_directories(aside(0));
  RunningService service(node_.host(), node_.words());
  ASSERT_TRUE(ready(service)) << service.log();
  EXPECT_TRUE(eventually([&] { return !any_aside(); })) << service.log();
  EXPECT_EQ(daemon(), first) << service.log();
  EXPECT_EQ(node_.host().text("outside/.pipe.aside-0/file"), "text");
}

}  // namespace
}  // namespace slipway
