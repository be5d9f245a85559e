// SPDX-License-Identifier: Apache-2.0
// Ending of real processes. The tree of /proc sets their parents: as the test's own children they would be slipway's.
#include "nvidia/drain/terminate.hpp"

#include <array>
#include <csignal>
#include <filesystem>
#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <slipway/process/proc_text.hpp>
#include <slipway/testing/fake_host.hpp>

namespace slipway::nvidia::drain {
namespace {

using slipway::testing::FakeHost;
using std::chrono::seconds;
using ::testing::IsEmpty;

/// A child that waits forever; it is ready when the constructor returns.
class Child {
 public:
  explicit Child(bool ignores_sigterm) {
    std::array<int, 2> ready{};
    EXPECT_EQ(::pipe(ready.data()), 0);
    pid_ = ::fork();
    if (pid_ == 0) {
      if (ignores_sigterm) ::signal(SIGTERM, SIG_IGN);
      ::close(ready[1]);
      for (;;) ::pause();
    }
    ::close(ready[1]);
    char letter = 0;
    EXPECT_EQ(::read(ready[0], &letter, 1), 0);  // the last writer has closed
    ::close(ready[0]);
  }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;
  ~Child() {
    if (pid_ > 0) ::kill(pid_, SIGKILL);
    if (pid_ > 0) ::waitpid(pid_, nullptr, 0);
  }
  unsigned pid() const { return static_cast<unsigned>(pid_); }
  bool runs() const { return ::waitpid(pid_, nullptr, WNOHANG) == 0; }
  int end_signal() {
    int status = 0;
    ::waitpid(pid_, &status, 0);
    pid_ = -1;
    return WIFSIGNALED(status) ? WTERMSIG(status) : 0;
  }

 private:
  pid_t pid_ = -1;
};

class Terminate : public ::testing::Test {
 protected:
  /// The child as the tree of /proc shows it. @param parent  its parent process there
  DeviceHolder shown(const Child& child, unsigned parent = 1, std::uint64_t later = 0) {
    std::ifstream in("/proc/" + std::to_string(child.pid()) + "/stat");
    const std::string text{std::istreambuf_iterator<char>(in), {}};
    const auto stat = parse_process_stat(text);
    EXPECT_TRUE(stat.has_value());
    const std::string folder = "/proc/" + std::to_string(child.pid());
    host_.file(folder + "/stat", std::to_string(child.pid()) + " (child) S " + std::to_string(parent) +
                                     " 7 7 0 -1 0 0 0 0 0 1 2 0 0 20 0 1 0 " + std::to_string(stat->start + later) +
                                     " 1 2\n");
    return {read_process(host_, child.pid()), "GPU 0"};
  }
  FakeHost host_;
};

TEST_F(Terminate, EndsThemAndReturnsAsSoonAsTheyHaveEnded) {
  Child one(false);
  Child other(false);
  EXPECT_THAT(terminate(host_, {shown(one), shown(other)}, seconds(3600)), IsEmpty());
  EXPECT_EQ(one.end_signal(), SIGTERM);
  EXPECT_EQ(other.end_signal(), SIGTERM);
}

TEST_F(Terminate, KillsOneThatIgnoresSigterm) {
  Child deaf(true);
  EXPECT_THAT(terminate(host_, {shown(deaf)}, seconds(0)), IsEmpty());
  EXPECT_EQ(deaf.end_signal(), SIGKILL);
}

TEST_F(Terminate, LeavesAProcessAloneThatHasGotThePidSince) {
  const Child other(false);
  EXPECT_THAT(terminate(host_, {shown(other, 1, 5)}, seconds(0)), IsEmpty()) << "the one that was found has ended";
  EXPECT_TRUE(other.runs());
}

TEST_F(Terminate, EndsNoProcessWhereOneMustNotBeEnded) {
  const Child job(false);
  const Child own(false);
  DeviceHolder first;
  first.process.pid = 1;
  DeviceHolder kernel = shown(job);
  kernel.process.kernel_thread = true;
  DeviceHolder unseen;
  unseen.process.pid = job.pid();
  for (const DeviceHolder& each : {first, kernel, unseen, shown(own, static_cast<unsigned>(::getpid()))}) {
    ASSERT_EQ(find_unendable(host_, {shown(job), each}).size(), 1U);
    const auto remaining = terminate(host_, {shown(job), each}, seconds(0));
    ASSERT_EQ(remaining.size(), 1U);
    EXPECT_FALSE(remaining[0].why.empty());
  }
  EXPECT_TRUE(job.runs());
  EXPECT_TRUE(own.runs());
}

// An open file can be sent to any daemon that accepts messages. Before the fix, an apply then ended that daemon.
TEST_F(Terminate, EndsNoProcessThatOnlyHasADeviceOpen) {
  Child job(false);
  DeviceHolder holder = shown(job);
  holder.only_open = true;
  const auto maps = [&](const std::string& rights, const std::string& path) {
    host_.file("/proc/" + std::to_string(job.pid()) + "/maps",
               "55d0-55d1 r-xp 00000000 08:01 12 /usr/bin/dbus-daemon\n7f00-7f01 " + rights + " 00000000 08:01 13   " +
                   path + "\n7f02-7f03 rw-p 00000000 00:00 0\n");
  };
  const auto is_refused = [&] {
    const auto unendable = find_unendable(host_, {holder});
    return unendable.size() == 1 && unendable[0].why.find("only has the device open") != std::string::npos &&
           terminate(host_, {holder}, seconds(0)).size() == 1;
  };
  EXPECT_TRUE(is_refused()) << "its memory cannot be seen";
  maps("r-xp", "/usr/lib/libc.so.6");
  EXPECT_TRUE(is_refused());
  maps("r--p", "/tmp/libcuda.so.1");
  EXPECT_TRUE(is_refused()) << "a file that was sent to it as well";
  EXPECT_TRUE(job.runs());
  maps("r-xp", "/usr/lib/libnvidia-ml.so.580.1");
  EXPECT_THAT(terminate(host_, {holder}, seconds(3600)), IsEmpty());
  EXPECT_EQ(job.end_signal(), SIGTERM);
}

}  // namespace
}  // namespace slipway::nvidia::drain
