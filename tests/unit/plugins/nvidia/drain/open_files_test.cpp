// SPDX-License-Identifier: Apache-2.0
// Open files of a real process whose /dev is its own: there the name of a device node may be anything.
#include "nvidia/drain/open_files.hpp"

#include <array>
#include <csignal>
#include <string>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>

#include <slipway/local_host.hpp>

namespace slipway::nvidia::drain {
namespace {

constexpr DeviceNumber kNull{1, 3};
constexpr const char* kNode = "/dev/nvidia0";

bool put(const char* file, const std::string& text) {
  const int fd = ::open(file, O_WRONLY | O_CLOEXEC);
  const bool is_put = fd >= 0 && ::write(fd, text.data(), text.size()) == static_cast<ssize_t>(text.size());
  if (fd >= 0) ::close(fd);
  return is_put;
}

/// Does what any user can do. @param null  the machine's /dev/null, opened where it can still be mounted from
bool gets_own_dev(int& null) {
  const std::string user = std::to_string(::geteuid());
  const std::string group = std::to_string(::getegid());
  return ::unshare(CLONE_NEWUSER | CLONE_NEWNS) == 0 && put("/proc/self/setgroups", "deny") &&
         put("/proc/self/uid_map", "0 " + user + " 1") && put("/proc/self/gid_map", "0 " + group + " 1") &&
         (null = ::open("/dev/null", O_PATH | O_CLOEXEC)) >= 0 && ::mount("t", "/dev", "tmpfs", 0, nullptr) == 0;
}

/// A process that has a file open under the name /dev/nvidia0, which is a regular file or the machine's /dev/null.
class User {
 public:
  explicit User(bool is_device) {
    std::array<int, 2> ready{};
    EXPECT_EQ(::pipe(ready.data()), 0);
    pid_ = ::fork();
    if (pid_ == 0) {
      ::close(ready[0]);
      const char answer = opens(is_device) ? 'y' : 'n';
      if (::write(ready[1], &answer, 1) == 1)
        for (;;) ::pause();
      ::_exit(1);
    }
    ::close(ready[1]);
    char answer = 'n';
    EXPECT_EQ(::read(ready[0], &answer, 1), 1);
    ::close(ready[0]);
    has_own_dev_ = answer == 'y';
  }
  User(const User&) = delete;
  User& operator=(const User&) = delete;
  ~User() {
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }
  bool has_own_dev() const { return has_own_dev_; }

  bool is_found(const DeviceNumber& number) const {
    return is_found_by({.root = "/", .live = true, .kernel_view = "/"}, number);
  }
  bool is_found_by(const HostConfig& config, const std::optional<DeviceNumber>& number) const {
    const auto host = open_host(config);
    EXPECT_TRUE(host.ok());
    bool is_found = false;
    (void)find_open_files(**host, {{"nvidia0", {kNode, number}}}, {}, [&](unsigned pid, const std::string& /*node*/) {
      is_found = is_found || pid == static_cast<unsigned>(pid_);
    });
    return is_found;
  }

 private:
  static bool opens(bool is_device) {
    int null = -1;
    if (!gets_own_dev(null)) return false;
    const int made = ::open(kNode, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    if (!is_device) return made >= 0;
    ::close(made);
    const std::string source = "/proc/self/fd/" + std::to_string(null);
    return ::mount(source.c_str(), kNode, nullptr, MS_BIND, nullptr) == 0 && ::open(kNode, O_RDWR | O_CLOEXEC) >= 0;
  }

  pid_t pid_ = -1;
  bool has_own_dev_ = false;
};

// Before the fix, a regular file named /dev/nvidia0 blocked every change of the GPU, and the process that had it open
// was ended.
TEST(OpenFiles, AreDistinguishedByDeviceNotByName) {
  const User of_a_file(false);
  const User of_a_device(true);
  if (!of_a_file.has_own_dev() || !of_a_device.has_own_dev()) GTEST_SKIP() << "this machine gives users no /dev";
  EXPECT_FALSE(of_a_file.is_found(kNull));
  EXPECT_TRUE(of_a_device.is_found(kNull));
  EXPECT_FALSE(of_a_device.is_found({195, 0})) << "it is another device";
}

// Before the fix, a program on this machine's GPU 0 kept the layout of a simulated GPU 0 from being changed.
TEST(OpenFiles, AreThoseOfThisMachineAlone) {
  const User user(true);
  if (!user.has_own_dev()) GTEST_SKIP() << "this machine gives users no /dev";
  EXPECT_FALSE(user.is_found_by({.root = "/", .kernel_view = "/"}, {}));
  EXPECT_TRUE(user.is_found_by({.root = "/", .live = true, .kernel_view = "/"}, {}));
}

}  // namespace
}  // namespace slipway::nvidia::drain
