// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <csignal>
#include <filesystem>
#include <fstream>

#include <fcntl.h>
#include <sched.h>
#include <sys/file.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/component/cli/driver_root.hpp"

namespace slipway {
namespace {

using slipway::testing::DriverRoot;
using slipway::testing::Ran;
using ::testing::HasSubstr;
using ::testing::Not;

/// Mounts visible to this process only; false if that is not permitted.
bool own_mounts() {
  return ::unshare(CLONE_NEWNS) == 0 && ::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0;
}

TEST(Root, ThatIsReadOnlyIsLeftAloneWithTheReason) {
  if (!own_mounts()) GTEST_SKIP() << "needs to mount";
  const DriverRoot root;
  const std::string folder = root.folder().at("root").string();
  ASSERT_EQ(::mount(folder.c_str(), folder.c_str(), nullptr, MS_BIND, nullptr), 0);
  ASSERT_EQ(::mount(nullptr, folder.c_str(), nullptr, MS_REMOUNT | MS_BIND | MS_RDONLY, nullptr), 0);
  const auto before = root.tree();
  expect_refused(root, root.run({"plan"}), 1, {"Read-only file system"}, before);
  expect_refused(root, root.run({"apply"}), 1, {"Read-only file system"}, before);
  ::umount2(folder.c_str(), MNT_DETACH);
}

TEST(Root, ThatIsFullIsRestored) {
  if (!own_mounts()) GTEST_SKIP() << "needs to mount";
  const DriverRoot root;
  const std::string folder = root.folder().at("root").string();
  // Room for the state and the journal, not for the package.
  ASSERT_EQ(::mount("tmpfs", folder.c_str(), "tmpfs", 0, "size=160k"), 0);
  root.put("etc/hostname", "node\n");
  const auto before = root.tree();
  const Ran apply = root.run({"apply"});
  EXPECT_EQ(apply.code, 1) << apply.out;
  EXPECT_THAT(apply.err + apply.out, HasSubstr("space"));
  auto after = root.tree();
  std::erase_if(after, [](const auto& entry) { return entry.first.starts_with("var"); });
  EXPECT_EQ(after.at("etc/hostname"), before.at("etc/hostname"));
  EXPECT_FALSE(std::filesystem::exists(root.path("usr/lib/slipway/store/driver/current")));
  EXPECT_FALSE(std::filesystem::exists(root.path("etc/modprobe.d")));
  ::umount2(folder.c_str(), MNT_DETACH);
}

// Before the fix, status said that there was nothing to do, and the next apply failed.
TEST(Root, WhoseStateHasNoRoomLeftIsReportedByStatus) {
  if (!own_mounts()) GTEST_SKIP() << "needs to mount";
  const DriverRoot root;
  ASSERT_EQ(root.run({"apply"}).code, 0);
  const std::string state = root.folder().at("root/var/lib/slipway").string();
  const std::string copy = root.folder().at("copy").string();
  std::filesystem::copy(state, copy, std::filesystem::copy_options::recursive);
  const auto status = [&] { return root.run({"status"}).out; };
  EXPECT_THAT(status(), Not(HasSubstr("the file system of")));
  for (const auto& [limits, says] : std::vector<std::pair<std::string, std::string>>{
           {"mode=0700,size=1m", " is full (0 bytes are free)"}, {"mode=0700,nr_inodes=400", " has no inodes left"}}) {
    SCOPED_TRACE(limits);
    ASSERT_EQ(::mount("tmpfs", state.c_str(), "tmpfs", 0, limits.c_str()), 0);
    std::filesystem::copy(copy, state, std::filesystem::copy_options::recursive);
    EXPECT_THAT(status(), Not(HasSubstr("the file system of")));
    if (says.find("full") != std::string::npos) std::ofstream(state + "/filler") << std::string(2U << 20U, 'x');
    for (int i = 0; i < 400 && says.find("inodes") != std::string::npos; ++i)
      std::ofstream(state + "/" + std::to_string(i)) << "";
    EXPECT_THAT(status(), HasSubstr("the file system of " + state + says));
    ::umount2(state.c_str(), MNT_DETACH);
  }
}

/// The file that another slipway process would lock: one that only root can open, or for an ordinary user the root
/// folder.
std::string lock_of(const DriverRoot& root) {
  const std::string folder = root.folder().at("root").string();
  if (::geteuid() != 0) return folder;
  struct stat info {};
  EXPECT_EQ(::stat(folder.c_str(), &info), 0);
  std::filesystem::create_directories("/run/slipway/lock");
  return "/run/slipway/lock/root-" + std::to_string(info.st_dev) + "-" + std::to_string(info.st_ino) + ".lock";
}

int open_lock(const std::string& path) {
  const bool folder = std::filesystem::is_directory(path);
  return ::open(path.c_str(), (folder ? O_RDONLY | O_DIRECTORY : O_RDWR | O_CREAT) | O_CLOEXEC, 0600);
}

TEST(Root, ThatAnotherSlipwayWorksOnIsLeftAlone) {
  const DriverRoot root;
  const auto before = root.tree();
  const int holder = open_lock(lock_of(root));
  ASSERT_EQ(::flock(holder, LOCK_EX | LOCK_NB), 0);
  expect_refused(root, root.run({"apply"}), 75, {"another"}, before);
  EXPECT_EQ(root.run({"plan"}).code, 2) << "looking needs no lock";
  ::close(holder);
  EXPECT_EQ(root.run({"apply"}).code, 0) << "the lock dies with its holder";
  EXPECT_TRUE(::geteuid() != 0 || !std::filesystem::exists(lock_of(root))) << "nothing is left";
}

// Two containers that mount the same root have separate /run folders.
TEST(Root, IsLockedForProcessesWithAnotherRunFolder) {
  const DriverRoot root;
  ASSERT_EQ(root.run({"apply"}).code, 0);
  const std::string state = root.folder().at("root/var/lib/slipway").string();
  const int elsewhere = ::open(state.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  ASSERT_EQ(::flock(elsewhere, LOCK_EX | LOCK_NB), 0);
  const Ran busy = root.run({"apply"});
  EXPECT_NE(busy.code, 0);
  EXPECT_THAT(busy.err, HasSubstr("another slipway is changing this root"));
  ::close(elsewhere);
  EXPECT_EQ(root.run({"apply"}).code, 0);
}

// flock(2) needs no write permission: before the fix, any user who could open the root folder could block each apply,
// including the boot's.
TEST(Root, CannotBeLockedByAnotherUser) {
  if (::geteuid() != 0) GTEST_SKIP() << "needs root, to become somebody else";
  const DriverRoot root;
  std::filesystem::permissions(root.folder().at(""), std::filesystem::perms(0755));
  const std::string folder = root.folder().at("root").string();
  const std::string ours = lock_of(root);
  const int made = open_lock(ours);
  std::array<int, 2> told{};
  ASSERT_EQ(::pipe2(told.data(), O_CLOEXEC), 0);
  const pid_t other = ::fork();
  if (other == 0) {
    bool locked = ::setresuid(65534, 65534, 65534) == 0;
    const int taken = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    locked = locked && ::flock(taken, LOCK_EX | LOCK_NB) == 0;
    const bool refused = ::open(ours.c_str(), O_RDONLY | O_CLOEXEC) < 0 && errno == EACCES;
    const char result = !locked ? 'n' : !refused ? 'o' : 'y';
    (void)!::write(told[1], &result, 1);
    ::pause();
  }
  char result = 0;
  ASSERT_EQ(::read(told[0], &result, 1), 1);
  EXPECT_EQ(result, 'y') << "n: the attack itself failed; o: our file can be opened";
  ::close(made);
  const Ran apply = root.run({"apply"});
  EXPECT_EQ(apply.code, 0) << apply.err;
  ::kill(other, SIGKILL);
  ::waitpid(other, nullptr, 0);
  ::close(told[0]);
  ::close(told[1]);
}

TEST(Root, OfALaterSlipwayIsRefused) {
  const DriverRoot root;
  root.put("var/lib/slipway/format", "99\n");
  const auto before = root.tree();
  expect_refused(root, root.run({"apply"}), 1, {"99"}, before);
}

TEST(Root, WhoseOwnSpecNamesASecretOfThisMachineIsRefused) {
  const DriverRoot root;
  root.put("etc/slipway/host.yaml", R"(apiVersion: slipway.dev/v1
kind: Host
metadata: {name: image}
spec:
  components:
    driver:
      version: "535.261.03"
      source: {repository: "oci://127.0.0.1:1/driver", trust: unsigned}
      signing: {key: {file: /etc/shadow}, certificate: /etc/slipway/mok.der}
)");
  const auto before = root.tree();
  const std::string folder = root.folder().at("root").string();
  const Ran own = root.bare({"plan", "--root", folder, "--sim", "h100x8"});
  EXPECT_EQ(own.code, 1) << own.out;
  EXPECT_THAT(own.err, HasSubstr("host.yaml:9:"));
  EXPECT_THAT(own.err, HasSubstr("components.driver.signing.key"));
  EXPECT_THAT(own.err, HasSubstr("-f " + folder + "/etc/slipway/host.yaml"));
  EXPECT_EQ(root.tree(), before);
  const Ran named = root.bare({"plan", "--root", folder, "--sim", "h100x8", "-f", folder + "/etc/slipway/host.yaml"});
  EXPECT_THAT(named.err, Not(HasSubstr("secret of this machine"))) << "its caller answers for it";
}

TEST(Root, ThatIsMissingIsNamed) {
  const DriverRoot root;
  std::filesystem::remove(root.folder().at("root"));
  const Ran ran = root.run({"plan"});
  EXPECT_EQ(ran.code, 1);
  EXPECT_THAT(ran.err, HasSubstr(root.folder().at("root").string()));
}

}  // namespace
}  // namespace slipway
