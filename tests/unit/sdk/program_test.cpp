// SPDX-License-Identifier: Apache-2.0
#include <csignal>
#include <thread>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <slipway/local_host.hpp>
#include <slipway/testing/temp_dir.hpp>

namespace slipway {
namespace {

using std::chrono::milliseconds;
using testing::TempDir;

constexpr milliseconds kPlenty{20000};

Result<ProcessOutput> run(const std::vector<std::string>& argv, milliseconds limit = kPlenty) {
  return (*open_host({.live = true}))->run(argv, limit);
}

Result<ProcessOutput> shell(const std::string& script, milliseconds limit = kPlenty) {
  return run({"sh", "-c", script}, limit);
}

TEST(HostRun, GivesStatusAndBothStreams) {
  const Result<ProcessOutput> ran = shell("echo out; echo err >&2; exit 3");
  ASSERT_TRUE(ran.ok());
  EXPECT_EQ(ran->exit_status, 3);
  EXPECT_EQ(ran->output, "out\n");
  EXPECT_EQ(ran->errors, "err\n");
  EXPECT_FALSE(ran->truncated);
}

TEST(HostRun, UsesNoShell) { EXPECT_EQ(run({"echo", "$HOME", "a b", "*"})->output, "$HOME a b *\n"); }

TEST(HostRun, GivesAnEmptyInputAndAFixedEnvironment) {
  setenv("SLIPWAY_SECRET", "x", 1);
  EXPECT_EQ(shell("cat; env | grep -c . ; echo $LC_ALL$SLIPWAY_SECRET; pwd")->output.substr(2), "C\n/\n");
}

// Before the fix, depmod wrote a modules.dep that only root could read, when root's umask was 077.
TEST(HostRun, GivesTheUsualUmaskForAnyCaller) {
  const mode_t mask = umask(077);
  const Result<ProcessOutput> ran = shell("umask");
  umask(mask);
  ASSERT_TRUE(ran.ok());
  EXPECT_EQ(ran->output, "0022\n");
}

TEST(HostRun, ReportsTheSignalThatEndedIt) { EXPECT_EQ(shell("kill -ABRT $$")->exit_status, 128 + SIGABRT); }

TEST(HostRun, KeepsTheNewestMebibyteOfAFlood) {
  const Result<ProcessOutput> ran = shell("yes | head -c 5000000; echo; echo the end");
  ASSERT_TRUE(ran.ok());
  EXPECT_EQ(ran->output.size(), 1U << 20);
  EXPECT_TRUE(ran->output.ends_with("\nthe end\n"));
  EXPECT_TRUE(ran->truncated);
}

TEST(HostRun, SaysWhichProgramIsMissing) {
  for (const char* name : {"no-such-program", "/no/such/program", ""}) {
    const Result<ProcessOutput> ran = run({name});
    ASSERT_FALSE(ran.ok());
    EXPECT_NE(ran.error().what.find(name), std::string::npos);
  }
  EXPECT_EQ(run({}).error().code, ErrorCode::invalid);
  EXPECT_EQ(run({"/etc/passwd"}).error().code, ErrorCode::denied);
}

TEST(HostRun, StopsAProgramThatTakesTooLongAndKeepsWhatItSaid) {
  const auto begin = std::chrono::steady_clock::now();
  const Result<ProcessOutput> ran = shell("echo so far; sleep 60", milliseconds(1500));  // a shell may start slowly
  EXPECT_LT(std::chrono::steady_clock::now() - begin, milliseconds(1500 + 3800));
  ASSERT_FALSE(ran.ok());
  EXPECT_EQ(ran.error().code, ErrorCode::timed_out);
  ASSERT_EQ(ran.error().details.size(), 1U);
  EXPECT_EQ(ran.error().details[0].second, "so far\n");
}

TEST(HostRun, StopsAFloodAtItsLimit) {
  const Result<ProcessOutput> ran = run({"yes"}, milliseconds(200));
  EXPECT_EQ(ran.error().code, ErrorCode::timed_out);
}

TEST(HostRun, KillsAProcessThatIgnoresSigterm) {
  const auto begin = std::chrono::steady_clock::now();
  const Result<ProcessOutput> ran = shell("trap '' TERM; while :; do sleep 0.05; done", milliseconds(1500));
  EXPECT_EQ(ran.error().code, ErrorCode::timed_out);
  EXPECT_GT(std::chrono::steady_clock::now() - begin, milliseconds(1500 + 3900));
}

TEST(HostRun, DoesNotWaitForRemainingProcesses) {
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_EQ(shell("sleep 20 & echo started")->output, "started\n");
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(5));
}

TEST(HostRun, HandsNoDescriptorOn) {
  const int leaked = open("/dev/null", O_RDONLY);  // without O_CLOEXEC, as a careless library does
  const Result<ProcessOutput> ran = run({"ls", "/proc/self/fd"});
  close(leaked);
  EXPECT_EQ(ran->output, "0\n1\n2\n3\n");  // 3 is the folder that ls reads
}

TEST(HostRun, RunsAProgramOfALiveRootThatIsNotOurOwn) {
  const TempDir root;
  root.file("/etc/name", "inside\n");
  root.directory("/usr/bin");
  root.link("/bin", "usr/bin");
  std::filesystem::copy_file(SLIPWAY_TEST_PROBE, root.at("/usr/bin/probe"));
  if (geteuid() != 0) GTEST_SKIP() << "chroot needs root";
  const auto host = std::move(*open_host({.root = root.string(), .live = true, .kernel_view = "/"}));
  EXPECT_EQ(host->run({"probe", "a b"}, kPlenty)->output, "probe inside a b in /\n");
  EXPECT_EQ(host->run({"/bin/probe"}, kPlenty)->exit_status, 7);
  EXPECT_EQ(host->run({"sh"}, kPlenty).error().code, ErrorCode::not_found);
}

TEST(HostRun, SaysThatAProgramsLoaderIsMissing) {
  const TempDir root;
  std::filesystem::create_directories(root.at("/bin"));
  std::filesystem::copy_file("/bin/true", root.at("/bin/true"));
  if (geteuid() != 0) GTEST_SKIP() << "chroot needs root";
  const auto host = std::move(*open_host({.root = root.string(), .live = true, .kernel_view = "/"}));
  EXPECT_NE(host->run({"true"}, kPlenty).error().next.find("loader is missing"), std::string::npos);
}

}  // namespace
}  // namespace slipway
