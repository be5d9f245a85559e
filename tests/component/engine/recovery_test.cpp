// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <thread>
#include <utility>

#include <signal.h>

#include "tests/component/engine/fake_systemd.hpp"
#include "tests/component/engine/installed.hpp"

namespace slipway {
namespace {

using slipway::testing::FakeSystemd;
using slipway::testing::Ran;
using slipway::testing::ScratchHost;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr const char* kSleeps = "    probe: {files: {/etc/probe.conf: \"ours\\n\", /new/file: x}, custom: sleeps}\n";
constexpr const char* kWorks = "    probe: {files: {/etc/probe.conf: \"ours\\n\", /new/file: x}}\n";

/// Starts an apply that hangs in its custom action, after its files are in place.
pid_t start_and_wait_for_switch(const ScratchHost& host) {
  const pid_t child = host.start({"apply"});
  for (int i = 0; i < 600 && !std::filesystem::exists(host.path("new/file")); ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  EXPECT_TRUE(std::filesystem::exists(host.path("new/file")));
  return child;
}

int wait_for(pid_t child) {
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

std::map<std::string, std::string> undisturbed() {
  ScratchHost host;
  host.live = true;
  host.put("etc/probe.conf", "the user's\n");
  host.spec(kWorks);
  EXPECT_EQ(host.slipway({"apply"}).code, 0);
  auto tree = host.tree();
  tree.erase("var/lib/slipway/generations/1.json");
  return tree;
}

TEST(Recovery, AfterAKillTheNextApplyEndsWithTheSameTree) {
  ScratchHost host;
  host.live = true;
  host.put("etc/probe.conf", "the user's\n");
  host.spec(kSleeps);
  const pid_t child = start_and_wait_for_switch(host);
  ::kill(child, SIGKILL);
  EXPECT_EQ(wait_for(child), 128 + SIGKILL);
  EXPECT_EQ(host.text("etc/probe.conf"), "ours\n");
  EXPECT_THAT(host.slipway({"status"}).out, HasSubstr("cut off"));
  for (const std::string command : {"verify", "doctor"}) {  // they skipped it
    const Ran ran = host.slipway({command, "-f", host.folder().at("host.yaml").string()});
    EXPECT_EQ(ran.code, 1);
    EXPECT_THAT(ran.out, HasSubstr("fail  slipway.apply: an apply was cut off"));
  }

  host.spec(kWorks);
  EXPECT_EQ(host.slipway({"plan"}).code, 2);
  const Ran again = host.slipway({"apply"});
  ASSERT_EQ(again.code, 0) << again.out << again.err;
  EXPECT_THAT(again.out, HasSubstr("undone first"));
  auto tree = host.tree();
  tree.erase("var/lib/slipway/generations/1.json");
  EXPECT_EQ(tree, undisturbed());
}

// Before the fix, verify and doctor reported only that there is no host spec, and advised to write one.
TEST(Recovery, OfTheFirstApplyIsAdvisedWithItsSpec) {
  ScratchHost host;
  host.live = true;
  host.spec(kSleeps);
  const pid_t child = start_and_wait_for_switch(host);
  ::kill(child, SIGKILL);
  EXPECT_EQ(wait_for(child), 128 + SIGKILL);
  const std::string apply = "`slipway apply --root " + host.folder().at("root").string() + " --live -f " +
                            host.folder().at("host.yaml").string() + "`";
  for (const std::string command : {"verify", "doctor"}) {
    const Ran ran = host.slipway({command});
    EXPECT_EQ(ran.code, 1);
    EXPECT_THAT(ran.out, HasSubstr("fail  slipway.apply: an apply was cut off, and its changes are half done"))
        << ran.err;
    EXPECT_THAT(ran.out, HasSubstr("do: " + apply)) << command;
  }
  EXPECT_THAT(host.slipway({"status"}).out, HasSubstr("an apply was cut off: run " + apply));
  EXPECT_THAT(host.slipway({"detect"}).err, HasSubstr("the first apply did not complete"));
}

// Before the fix, the advice was to write a spec.
TEST(Recovery, AfterAFirstApplyThatFailedIsAdvisedWithItsSpec) {
  ScratchHost host;
  host.live = true;
  host.spec("    probe: {files: {/etc/probe.conf: \"ours\\n\"}, custom: fails}\n");
  ASSERT_EQ(host.slipway({"apply"}).code, 1);
  const std::string again = "`slipway apply --root " + host.folder().at("root").string() + " --live -f " +
                            host.folder().at("host.yaml").string() + "`";
  for (const std::string command : {"verify", "doctor"}) {
    const Ran ran = host.slipway({command});
    EXPECT_EQ(ran.code, 1);
    EXPECT_THAT(ran.err, HasSubstr("nothing is provisioned: the first apply failed (probe: ")) << command;
    EXPECT_THAT(ran.err, HasSubstr("correct the cause, then run " + again)) << command;
  }
  EXPECT_THAT(host.slipway({"status"}).out, HasSubstr("correct the cause, then run " + again));

  host.spec("    probe: {custom: fails}\n    bystander: {}\n");
  ASSERT_EQ(host.slipway({"apply"}).code, 1);
  for (const std::string command : {"verify", "doctor"})
    EXPECT_THAT(host.slipway({command}).out, HasSubstr("fail  probe.apply: the last apply left it failed: "));
}

TEST(Recovery, RemoveAfterAKillReturnsTheEarlierTree) {
  ScratchHost host;
  host.live = true;
  host.put("etc/probe.conf", "the user's\n");
  const auto before = host.tree();
  host.spec(kSleeps);
  const pid_t child = start_and_wait_for_switch(host);
  ::kill(child, SIGKILL);
  wait_for(child);
  ASSERT_EQ(host.slipway({"remove", "--all"}).code, 0);
  EXPECT_EQ(host.tree(), before);
}

// The files are in place and recorded; only the service has not read them yet. Returns the calls of a kind that slipway
// and its tools make, in their order.
std::vector<std::string> calls_of(ScratchHost& host, const std::vector<std::string>& words, const std::string& kinds) {
  const std::string trace = host.folder().at("trace").string();
  host.folder().file("traced", "#!/bin/sh\nexport ASAN_OPTIONS=detect_leaks=0\nexec strace -f -qq -o '" + trace +
                                   "' -e trace=" + kinds + " '" + host.program + "' \"$@\"\n");
  std::filesystem::permissions(host.folder().at("traced"), std::filesystem::perms(0755));
  const std::string program = std::exchange(host.program, host.folder().at("traced").string());
  const Ran ran = host.slipway(words);
  EXPECT_EQ(ran.code, 0) << ran.out << ran.err;
  host.program = program;
  std::vector<std::string> lines;
  std::ifstream file(trace);
  for (std::string line; std::getline(file, line);) lines.push_back(line);
  return lines;
}

// Before the fix, a disk that failed right afterwards left empty files of depmod's, which were not created again.
TEST(Recovery, ATriggerIsDoneOnceItsOutputIsOnTheDisk) {
  if (std::system("strace true 2> /dev/null") != 0) GTEST_SKIP() << "strace does not work here";
  ScratchHost host;
  host.spec("    probe: {files: {/etc/ld.so.conf.d/probe.conf: \"/opt\\n\"}, trigger: ldconfig}\n");
  const auto calls = calls_of(host, {"apply"}, "execve,syncfs,fdatasync");
  const auto tool = std::ranges::find_if(calls, [](const std::string& line) {
    return line.find("execve(") != std::string::npos && line.find("ldconfig\"") != std::string::npos;
  });
  ASSERT_NE(tool, calls.end());
  const auto next =
      std::find_if(tool, calls.end(), [](const std::string& line) { return line.find("sync") != std::string::npos; });
  ASSERT_NE(next, calls.end());
  EXPECT_THAT(*next, HasSubstr("syncfs("));
}

TEST(Recovery, RunsARestartThatAKilledApplyLeft) {
  if (!FakeSystemd::possible()) GTEST_SKIP() << "needs root";
  ScratchHost host;
  const FakeSystemd systemd(host);
  systemd.running("a.service");
  host.spec("    probe: {files: {/etc/probe.conf: one}, trigger: \"restart:a.service\"}\n");
  systemd.hang(true);
  const pid_t child = host.start({"apply"});
  for (int i = 0; i < 600 && !std::filesystem::exists(host.path("run/told")); ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  ::kill(child, SIGKILL);
  EXPECT_EQ(wait_for(child), 128 + SIGKILL);
  EXPECT_EQ(host.text("etc/probe.conf"), "one");
  systemd.hang(false);

  EXPECT_EQ(host.slipway({"plan"}).code, 2);
  const Ran verify = host.slipway({"verify", "-f", host.folder().at("host.yaml").string()});
  EXPECT_EQ(verify.code, 1);
  EXPECT_THAT(verify.out, HasSubstr("fail  slipway.pending: still pending from an earlier apply: restart:a.service"));
  EXPECT_THAT(verify.out, HasSubstr("do: run `slipway apply --root "));
  host.put("run/told", "");
  const Ran again = host.slipway({"apply"});
  ASSERT_EQ(again.code, 0) << again.err;
  EXPECT_EQ(systemd.told(), "restart a.service\n");
  host.put("run/told", "");
  EXPECT_THAT(host.slipway({"apply"}).out, HasSubstr("Nothing to do"));
  EXPECT_EQ(systemd.told(), "");
}

// Killed a moment earlier, before the files are committed: they are undone, applied again, and the restart is repeated.
TEST(Recovery, RunsTheRestartForRestoredFiles) {
  if (!FakeSystemd::possible()) GTEST_SKIP() << "needs root";
  ScratchHost host;
  const FakeSystemd systemd(host);
  systemd.running("a.service");
  const std::string files = "    probe: {files: {/new/file: one}, trigger: \"restart:a.service\"";
  host.spec(files + ", custom: sleeps}\n");
  const pid_t child = start_and_wait_for_switch(host);
  // The restart comes before the sleeping action: slipway may log a just started one only later.
  for (int i = 0; i < 600 && systemd.told().empty(); ++i) std::this_thread::sleep_for(std::chrono::milliseconds(50));
  ::kill(child, SIGKILL);
  wait_for(child);
  std::filesystem::remove(host.path("run/told"));
  host.spec(files + "}\n");
  ASSERT_EQ(host.slipway({"apply"}).code, 0);
  EXPECT_EQ(systemd.told(), "restart a.service\n");
  EXPECT_EQ(host.text("new/file"), "one");
}

// Before the fix, only systemctl showed that the boot had failed.
TEST(Boot, ThatFailedIsNamedByStatusVerifyAndDoctor) {
  if (!FakeSystemd::possible()) GTEST_SKIP() << "needs root";
  ScratchHost host;
  host.spec("    probe: {files: {/etc/probe.conf: one}, node: true}\n");
  ASSERT_EQ(host.slipway({"apply"}).code, 0) << "an image, which is booted now";
  const FakeSystemd systemd(host);
  EXPECT_THAT(host.slipway({"status"}).out, ::testing::Not(HasSubstr("has failed")));
  systemd.failed("slipway-boot.service");
  EXPECT_THAT(host.slipway({"status"}).out, HasSubstr("slipway-boot.service has failed, its result is exit-code"));
  for (const std::string command : {"verify", "doctor"})
    EXPECT_THAT(host.slipway({command}).out, HasSubstr("warning  slipway-boot.boot: slipway-boot.service has failed"));
}

// Before the fix, only systemctl showed the failure, and a join script started after a failed boot.
TEST(Boot, ThatIsNotFinishedIsNotVerified) {
  if (!FakeSystemd::possible()) GTEST_SKIP() << "needs root";
  ScratchHost host;
  host.spec("    probe: {files: {/etc/probe.conf: one}, node: true}\n");
  ASSERT_EQ(host.slipway({"apply"}).code, 0) << "an image, which is booted now";
  const FakeSystemd systemd(host);
  systemd.failed("slipway-boot.service");
  const Ran failed = host.slipway({"verify", "--boot"});
  EXPECT_EQ(failed.code, 1);
  EXPECT_THAT(failed.out, HasSubstr("fail  slipway-boot.boot: slipway-boot.service has failed"));
  systemd.failed("slipway-verify.service");
  for (const std::string command : {"verify", "doctor"})
    EXPECT_THAT(host.slipway({command}).out,
                HasSubstr("warning  slipway-boot.verify: slipway-verify.service has failed"));
  EXPECT_THAT(host.slipway({"status"}).out, HasSubstr("so that slipway-ready.target is not reached"));
}

TEST(Boot, ThatDoesNotPassOnceKubeletRunsIsNamed) {
  if (!FakeSystemd::possible()) GTEST_SKIP() << "needs root";
  ScratchHost host;
  host.spec("    probe: {files: {/etc/probe.conf: one}, node: true}\n");
  ASSERT_EQ(host.slipway({"apply"}).code, 0) << "an image, which is booted now";
  const FakeSystemd systemd(host);
  host.put("etc/systemd/system/slipway-verify-late.service", "[Service]\nExecStart=/usr/bin/true\n");
  systemd.failed("slipway-verify-late.service");
  for (const std::string command : {"verify", "doctor"})
    EXPECT_THAT(host.slipway({command}).out,
                HasSubstr("warning  slipway-boot.verify-late: slipway-verify-late.service has failed"));
  EXPECT_THAT(host.slipway({"status"}).out,
              HasSubstr("a check failed after the start of a container engine or a node agent"));
  EXPECT_THAT(host.slipway({"verify", "--boot"}).out, Not(HasSubstr("verify-late")));
}

/// Starts it, and waits for these words in its output.
pid_t started_until(const ScratchHost& host, const std::vector<std::string>& words, const std::string& says) {
  const pid_t child = host.start(words);
  EXPECT_TRUE(testing::becomes_true([&] { return host.error_text().find(says) != std::string::npos; }))
      << host.error_text();
  return child;
}

int exit_code_of(pid_t child) {
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

// Before the fix, units ordered after slipway-ready.target failed at a first boot, before the first apply, and for
// good.
TEST(Boot, BeforeTheFirstApplyIsVerifiedOnceThatHasEnded) {
  if (!FakeSystemd::possible()) GTEST_SKIP() << "needs root";
  ScratchHost host;
  host.program = testing::installed_program();
  host.spec("    probe: {files: {/etc/probe.conf: one}}\n");
  ASSERT_EQ(host.slipway({"apply"}).code, 0);
  const auto state = host.path("var/lib/slipway");
  std::filesystem::rename(state, host.folder().at("aside"));
  const FakeSystemd systemd(host);
  systemd.queued("slipway-apply.service");
  const pid_t verify = started_until(host, {"verify", "--boot"}, "waiting for slipway-apply.service to end");
  systemd.running("slipway-apply.service");
  std::filesystem::rename(host.folder().at("aside"), state);
  systemd.stopped("slipway-apply.service");
  EXPECT_EQ(exit_code_of(verify), 0) << host.error_text();
}

TEST(Boot, IsNotVerifiedAfterAFailedOrDisabledFirstApply) {
  if (!FakeSystemd::possible()) GTEST_SKIP() << "needs root";
  ScratchHost host;
  const FakeSystemd systemd(host);
  EXPECT_EQ(host.slipway({"verify", "--boot"}).code, 1) << "nothing is at work that would provision it";
  systemd.trying_again("slipway-apply.service");
  const pid_t verify = started_until(host, {"verify", "--boot"}, "waiting for slipway-apply.service to end");
  systemd.failed("slipway-apply.service");
  EXPECT_EQ(exit_code_of(verify), 1);
}

TEST(Boot, IsVerifiedWhereverItIsProvisioned) {
  if (!FakeSystemd::possible()) GTEST_SKIP() << "needs root";
  ScratchHost host;
  host.program = testing::installed_program();
  host.spec("    probe: {files: {/etc/probe.conf: one}}\n");
  const FakeSystemd systemd(host);
  ASSERT_EQ(host.slipway({"apply"}).code, 0);
  systemd.running("slipway-apply.service");
  const Ran verified = host.slipway({"verify", "--boot"});
  EXPECT_EQ(verified.code, 0) << verified.out << verified.err;
}

// kubelet and engines take a while to start: a check right after their start would fail.
TEST(LateVerify, IsRepeatedUntilAllPasses) {
  ScratchHost host;
  host.program = testing::installed_program();
  host.spec("    probe: {files: {/etc/probe.conf: one}}\n");
  ASSERT_EQ(host.slipway({"apply"}).code, 0);
  EXPECT_EQ(host.slipway({"verify", "--after-boot"}).code, 0);
  std::filesystem::rename(host.path("etc/probe.conf"), host.folder().at("aside"));
  const pid_t verify = started_until(host, {"verify", "--after-boot"}, "they are repeated");
  std::filesystem::rename(host.folder().at("aside"), host.path("etc/probe.conf"));
  EXPECT_EQ(exit_code_of(verify), 0) << host.error_text();
}

// Before a join kubelet is started every ten seconds; before the fix, each start of kubelet would have tried a
// container.
TEST(LateVerify, WaitsWhileKubeletIsStartedAgainAndAgain) {
  if (!FakeSystemd::possible()) GTEST_SKIP() << "needs root";
  ScratchHost host;
  const testing::TempDir prefix;
  host.program = testing::install_into(prefix, {SLIPWAY_TEST_PLUGINS, SLIPWAY_GUEST_PLUGINS});
  host.plugins = std::string(SLIPWAY_TEST_PLUGINS) + ":" + SLIPWAY_GUEST_PLUGINS;
  host.spec("    probe: {files: {/etc/probe.conf: one}}\n    guest: {}\n");
  ASSERT_EQ(host.slipway({"apply"}).code, 0);
  const FakeSystemd systemd(host);
  systemd.trying_again("guest-engine.service");
  const pid_t verify = started_until(host, {"verify", "--after-boot"}, "waiting for a container engine or kubelet");
  int status = 0;
  EXPECT_EQ(::waitpid(verify, &status, WNOHANG), 0);
  systemd.running("guest-engine.service");
  EXPECT_EQ(exit_code_of(verify), 0) << host.error_text();
}

TEST(LateVerify, VerifiesTheActiveGeneration) {
  ScratchHost host;
  host.program = testing::installed_program();
  host.spec("    probe: {files: {/etc/probe.conf: one}}\n");
  const std::string file = host.folder().at("host.yaml").string();
  EXPECT_EQ(host.slipway({"verify", "--after-boot", "-f", file}).code, 64);
  EXPECT_EQ(host.slipway({"verify", "--after-boot", "--boot"}).code, 64);
  EXPECT_EQ(host.slipway({"verify", "--after-boot"}).code, 1) << "nothing is provisioned";
  ASSERT_EQ(host.slipway({"apply"}).code, 0);
  host.put("etc/slipway/host.yaml", "not the active spec\n");
  EXPECT_EQ(host.slipway({"verify", "--after-boot"}).code, 0);
}

// Before the fix, status advised to write a spec, both between two tries and after the last.
TEST(Boot, OfAFailedApplyUnitIsReported) {
  if (!FakeSystemd::possible()) GTEST_SKIP() << "needs root";
  ScratchHost host;
  const FakeSystemd systemd(host);
  systemd.trying_again("slipway-apply.service");
  EXPECT_THAT(host.slipway({"status"}).out, HasSubstr("slipway-apply.service has failed and is about to try again"));
  systemd.failed("slipway-apply.service");
  const Ran status = host.slipway({"status"});
  EXPECT_THAT(status.out, HasSubstr("slipway-apply.service has given up, its result is exit-code"));
  EXPECT_THAT(status.out, ::testing::Not(HasSubstr("slipway init")));
  host.spec("    probe: {files: {/etc/probe.conf: one}}\n");
  ASSERT_EQ(host.slipway({"apply"}).code, 0);
  for (const std::string command : {"verify", "doctor"})
    EXPECT_THAT(host.slipway({command}).out,
                HasSubstr("warning  slipway.apply-unit: slipway-apply.service has given up"));
}

// Before the fix, a kill between the last change and verify left a component that was never verified.
TEST(Recovery, VerifiesTheChangesOfAKilledApply) {
  ScratchHost host;
  host.put("etc/probe-hang-in-verify", host.folder().at("asleep").string());
  host.put("etc/probe-broken", "");
  host.spec("    probe: {files: {/new/file: x}}\n");
  const pid_t child = host.start({"apply"});
  const auto committed = host.path("var/lib/slipway/components/probe.json");
  for (int i = 0; i < 600 && !std::filesystem::exists(committed); ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  ::kill(child, SIGKILL);
  wait_for(child);
  std::filesystem::remove(host.path("etc/probe-hang-in-verify"));
  const Ran next = host.slipway({"apply"});
  EXPECT_EQ(next.code, 1) << next.out << next.err;
  EXPECT_THAT(next.out, HasSubstr("does not work: probe.works"));
}

TEST(Stop, BySigtermFinishesThePresentComponentOnly) {
  ScratchHost host;
  host.live = true;
  host.spec("    probe: {files: {/new/file: x}, custom: naps, marker: " + host.folder().at("marker").string() +
            "}\n    follower: {}\n");
  const pid_t child = start_and_wait_for_switch(host);
  ::kill(child, SIGTERM);
  EXPECT_EQ(wait_for(child), 1);
  EXPECT_FALSE(std::filesystem::exists(host.path("etc/follower")));
  const Ran status = host.slipway({"status"});
  EXPECT_THAT(status.out, ::testing::Not(HasSubstr("cut off")));
  ASSERT_EQ(host.slipway({"apply"}).code, 0);
  EXPECT_TRUE(std::filesystem::exists(host.path("etc/follower")));
}

TEST(Lock, AllowsOneApplyAtATime) {
  ScratchHost host;
  host.live = true;
  host.spec(kSleeps);
  const pid_t child = start_and_wait_for_switch(host);
  const Ran second = host.slipway({"apply"});
  EXPECT_EQ(second.code, 75);
  EXPECT_THAT(second.err, HasSubstr("another slipway"));
  // Before the fix, a running change was called interrupted.
  const Ran status = host.slipway({"status"});
  EXPECT_THAT(status.out, HasSubstr("another slipway is changing this root: slipway"));
  EXPECT_THAT(status.out, ::testing::ContainsRegex("\\(pid [0-9]+\\), under way since [0-9:]+ UTC; probe: "));
  EXPECT_THAT(status.out, ::testing::Not(HasSubstr("cut off")));
  ::kill(child, SIGKILL);
  wait_for(child);
  EXPECT_THAT(host.slipway({"status"}).out, ::testing::Not(HasSubstr("under way"))) << "what the dead one noted is old";
}

// Before the fix, while a first apply downloaded, status said that nothing was provisioned, and to write a spec.
TEST(Lock, IsReportedByStatusFromTheFirstMomentOfAFirstApply) {
  ScratchHost host;
  host.live = true;
  host.spec("    probe: {files: {/new/file: x}}\n");
  const std::string asleep = host.folder().at("asleep").string();
  host.put("etc/probe-hang-in-detect", asleep);
  const pid_t child = host.start({"apply"});
  ASSERT_TRUE(testing::becomes_true([&] { return std::filesystem::exists(asleep); }));
  const Ran status = host.slipway({"status"});
  EXPECT_THAT(status.out, HasSubstr("A first apply of "));
  EXPECT_THAT(status.out, HasSubstr("another slipway is changing this root: slipway"));
  EXPECT_THAT(status.out, ::testing::Not(HasSubstr("slipway init")));
  EXPECT_THAT(status.out, ::testing::Not(HasSubstr("is left to do")));
  ::kill(child, SIGKILL);
  wait_for(child);
}

}  // namespace
}  // namespace slipway
