// SPDX-License-Identifier: Apache-2.0
// The resources that a service checks while it runs: the devices and folders that its unit grants.
#include "sandbox/unit/granted_access.hpp"

#include <functional>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <unistd.h>

#include <slipway/regular_file.hpp>
#include <slipway/testing/temp_dir.hpp>

#include "sandbox/unit/device_rules.hpp"

namespace slipway::sandbox {
namespace {

using slipway::testing::TempDir;

// A module that is loaded after the service has started gets a number that is missing in the rules of its cgroup.
TEST(DeviceNumbers, AreThoseOfTheClassesThatTheServiceOpens) {
  const TempDir proc;
  EXPECT_EQ(device_numbers({"acme*"}, proc.at("devices").string()), "") << "no such file";
  proc.file("devices",
            "Character devices:\n  1 mem\n195 acme\n511 acme-uvm\n 10 misc\n\nBlock devices:\n254 acme-disk\n");
  EXPECT_EQ(device_numbers({"acme*"}, proc.at("devices").string()), "195 acme\n511 acme-uvm\n");
  EXPECT_EQ(device_numbers({"acme", "mem"}, proc.at("devices").string()), "1 mem\n195 acme\n");
  EXPECT_EQ(device_numbers({}, proc.at("devices").string()), "");
}

/// The child's exit code: 0 when all of its expectations are true.
int in_a_child(const std::function<bool()>& holds) {
  const pid_t child = ::fork();
  if (child == 0) ::_exit(holds() ? 0 : 1);
  int status = -1;
  ::waitpid(child, &status, 0);
  return status;
}

/// From now on, access(2) fails for every file as for a device that a cgroup's rules do not contain.
bool close_everything() {
  sock_filter lines[] = {BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
#ifdef SYS_access
                         BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_access, 2, 0),
#else
                         BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_faccessat, 2, 0),
#endif
                         BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_faccessat, 1, 0),
                         BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
                         BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM)};
  const sock_fprog program{static_cast<unsigned short>(std::size(lines)), lines};
  return ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

TEST(ClosedNode, IsANodeThatTheRulesLeaveOut) {
  EXPECT_EQ(closed_node("1 mem\n", "/dev"), "");
  EXPECT_EQ(in_a_child([] {
              return close_everything() && closed_node("1 mem\n", "/dev").starts_with("/dev/") &&
                     closed_node("3999 acme\n", "/dev").empty() && closed_node("", "/dev").empty();
            }),
            0);
}

// Before the fix, the driver was loaded between systemd's reading of the numbers and the service's own: EPERM until the
// next restart.
TEST(GrantedAccess, RestartsTheServiceOnceForAClosedNode) {
  const TempDir folder;
  const auto look = [&] {
    GrantedAccess granted({"mem"}, {}, *RootDir::open(folder.string()), "/run/mark");
    return close_everything() ? granted.lost() : "not closed";
  };
  EXPECT_EQ(in_a_child([&] { return look().ends_with("restarting, so that the service may open it"); }), 0);
  EXPECT_EQ(read_regular(folder.at("run/mark").string(), 100).value_or(""), "1 mem\n");
  EXPECT_EQ(in_a_child([&] { return look().empty(); }), 0) << "the administrator wants it so";
  folder.file("run/mark", "2 mem\n");
  EXPECT_EQ(in_a_child([&] { return !look().empty(); }), 0) << "the mark is of other numbers";
}

/// A unit's view of a folder that it may write to: the rest of the file system is read-only.
class GrantedFolder : public ::testing::Test {
 protected:
  void SetUp() override {
    if (::geteuid() != 0) GTEST_SKIP() << "needs root";
    place_.directory("box/writes");
  }
  GrantedAccess granted() const { return {{}, {folder_}, *RootDir::open(place_.string()), "/run/mark"}; }
  bool add_restrictions() const {
    const std::string box = place_.at("box").string();
    return ::unshare(CLONE_NEWNS) == 0 && ::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0 &&
           ::mount(box.c_str(), box.c_str(), nullptr, MS_BIND, nullptr) == 0 &&
           ::mount(folder_.c_str(), folder_.c_str(), nullptr, MS_BIND, nullptr) == 0 &&
           ::mount(nullptr, box.c_str(), nullptr, MS_REMOUNT | MS_BIND | MS_RDONLY, nullptr) == 0;
  }
  /// Returns the result of the sandboxed service, after the machine has done `outside` to its folders.
  int finds(const std::function<void()>& outside, const std::function<bool(GrantedAccess&)>& holds) const {
    int ready[2];
    int done[2];
    if (::pipe(ready) != 0 || ::pipe(done) != 0) return -1;
    char byte = 0;
    const pid_t child = ::fork();
    if (child == 0) {
      if (!add_restrictions()) ::_exit(2);
      GrantedAccess service = granted();
      if (!service.lost().empty()) ::_exit(3);
      (void)!::write(ready[1], "x", 1);
      (void)!::read(done[0], &byte, 1);
      ::_exit(holds(service) ? 0 : 1);
    }
    ::close(ready[1]);
    (void)!::read(ready[0], &byte, 1);
    outside();
    (void)!::write(done[1], "x", 1);
    int status = -1;
    ::waitpid(child, &status, 0);
    for (const int fd : {ready[0], done[0], done[1]}) ::close(fd);
    return status;
  }
  TempDir place_;
  std::string folder_ = place_.at("box/writes").string();
};

// `kubeadm reset` empties /var/lib/kubelet. Before the fix, the device plugin's sockets were then on a read-only file
// system forever.
TEST_F(GrantedFolder, ThatIsRemovedOrMadeAgainIsLost) {
  const auto removed = [&] { std::filesystem::remove_all(folder_); };
  EXPECT_EQ(finds(removed, [](GrantedAccess& service) { return service.lost().find("is gone") != std::string::npos; }),
            0);
  place_.directory("box/writes");
  const auto again = [&] {
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directory(folder_);
  };
  EXPECT_EQ(
      finds(again, [](GrantedAccess& service) { return service.lost().find("was replaced") != std::string::npos; }), 0);
}

TEST_F(GrantedFolder, ThatOthersUseIsNotLost) {
  const auto busy = [&] {
    place_.file("box/writes/file", "x");
    place_.file("box/beside", "x");
  };
  EXPECT_EQ(finds(busy, [](GrantedAccess& service) { return service.lost().empty(); }), 0);
}

// Otherwise it would start again every few seconds.
TEST_F(GrantedFolder, ThatWasMissingAtTheStartIsIgnored) {
  std::filesystem::remove_all(folder_);
  GrantedAccess none = granted();
  EXPECT_EQ(none.lost(), "");
  place_.directory("box/writes");
  EXPECT_EQ(none.lost(), "") << "it may write there";
  EXPECT_EQ(in_a_child([&] {
              if (!add_restrictions() || ::umount(folder_.c_str()) != 0) return false;
              GrantedAccess read_only = granted();
              return read_only.lost().empty();
            }),
            0);
}

// A disk that is mounted after the service has started without its folder.
TEST_F(GrantedFolder, ThatAppearsLaterCausesARestart) {
  EXPECT_EQ(in_a_child([&] {
              std::filesystem::remove_all(folder_);
              GrantedAccess service = granted();
              std::filesystem::create_directory(folder_);
              if (!add_restrictions() || ::umount(folder_.c_str()) != 0) return false;
              return !service.lost().empty();
            }),
            0);
}

}  // namespace
}  // namespace slipway::sandbox
