// SPDX-License-Identifier: Apache-2.0
// A user's edits between plan and apply, during an apply, after one was cut off, or between generations: they are never
// lost, and are reported.
#include <chrono>
#include <csignal>
#include <thread>
#include <utility>

#include "tests/component/engine/scratch_host.hpp"

namespace slipway {
namespace {

using slipway::testing::Ran;
using slipway::testing::ScratchHost;
using ::testing::HasSubstr;

constexpr const char* kEdit = "edited by hand\n";

class UserEdits : public ::testing::Test {
 protected:
  UserEdits() { host_.live = true; }

  std::string marker() const { return host_.folder().at("marker").string(); }
  /// A component that runs before the probe and sleeps for a second; its file says when.
  std::string nap() const { return "    bystander: {naps_until: " + marker() + "}\n"; }

  /// Starts an apply and waits for this file.
  pid_t start_until(const std::string& file) const {
    const pid_t child = host_.start({"apply"});
    for (int i = 0; i < 600 && !std::filesystem::exists(host_.path(file)); ++i)
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    EXPECT_TRUE(std::filesystem::exists(host_.path(file)));
    return child;
  }
  int end_of(pid_t child) const {
    int status = 0;
    ::waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  }
  /// Applies the spec, and edits the probe's file as soon as `sign` exists.
  int edit_during_apply(const std::string& sign) const {
    const pid_t child = start_until(sign);
    host_.put("etc/probe.conf", kEdit);
    const int code = end_of(child);
    EXPECT_TRUE(std::filesystem::exists(marker()) || code == 1) << "the edit came too late";
    return code;
  }
  void expect_reported_as_drift() const {
    const Ran plan = host_.slipway({"plan"});
    EXPECT_EQ(plan.code, 0) << plan.out << plan.err;
    EXPECT_THAT(plan.out, HasSubstr("! "));
    EXPECT_THAT(plan.out, HasSubstr("keep /etc/probe.conf"));
    EXPECT_EQ(host_.text("etc/probe.conf"), kEdit);
  }

  ScratchHost host_;
};

TEST_F(UserEdits, BetweenASavedPlanAndItsApplyMakeThePlanOutOfDate) {
  host_.spec("    probe: {files: {/etc/probe.conf: one}}\n");
  ASSERT_EQ(host_.slipway({"apply"}).code, 0);
  host_.spec("    probe: {files: {/etc/probe.conf: two}}\n");
  host_.folder().file("plan.json", host_.slipway({"plan", "-o", "json"}).out);
  host_.put("etc/probe.conf", kEdit);
  const Ran apply = host_.slipway({"apply", host_.folder().at("plan.json").string()});
  EXPECT_EQ(apply.code, 1);
  EXPECT_THAT(apply.err, HasSubstr("out of date"));
  EXPECT_THAT(apply.err, HasSubstr("file /etc/probe.conf was to be changed, is a kept edit"));
  const Ran dry = host_.slipway({"apply", host_.folder().at("plan.json").string(), "--dry-run"});
  EXPECT_THAT(dry.err, HasSubstr("`slipway plan --root ")) << "the advice is for that root, too";
  EXPECT_EQ(host_.text("etc/probe.conf"), kEdit);
}

// Before the fix, the plan was made before the first component's turn, and its files were written without another
// check.
TEST_F(UserEdits, OfAFileThatIsPlannedLaterAreKept) {
  host_.spec("    probe: {files: {/etc/probe.conf: one}}\n");
  ASSERT_EQ(host_.slipway({"apply"}).code, 0);
  host_.spec(nap() + "    probe: {files: {/etc/probe.conf: two, /etc/more.conf: more}}\n");
  EXPECT_EQ(edit_during_apply("etc/bystander"), 0) << host_.error_text();
  EXPECT_THAT(host_.error_text(), HasSubstr("/etc/probe.conf was edited while slipway was at work"));
  EXPECT_EQ(host_.text("etc/more.conf"), "more");
  expect_reported_as_drift();
}

TEST_F(UserEdits, OfAFileThatIsToBeRemovedAreKept) {
  host_.spec("    probe: {files: {/etc/probe.conf: one, /etc/more.conf: more}}\n");
  ASSERT_EQ(host_.slipway({"apply"}).code, 0);
  host_.spec(nap() + "    probe: {files: {/etc/more.conf: more}}\n");
  EXPECT_EQ(edit_during_apply("etc/bystander"), 0) << host_.error_text();
  EXPECT_EQ(host_.text("etc/probe.conf"), kEdit);
  EXPECT_THAT(host_.error_text(), HasSubstr("/etc/probe.conf was edited while slipway was at work"));
}

TEST_F(UserEdits, OfAFileThatIsReplacedForTheFirstTimeComeBackWithItsRemoval) {
  host_.put("etc/probe.conf", "the user's\n");
  host_.spec(nap() + "    probe: {files: {/etc/probe.conf: one}}\n");
  EXPECT_EQ(edit_during_apply("etc/bystander"), 0) << host_.error_text();
  EXPECT_EQ(host_.text("etc/probe.conf"), "one");
  ASSERT_EQ(host_.slipway({"remove", "--all"}).code, 0);
  EXPECT_EQ(host_.text("etc/probe.conf"), kEdit);
}

// Before the fix, the content at the end of the apply was taken for slipway's own.
TEST_F(UserEdits, OfAFileThatThisApplyHasJustWrittenAreKept) {
  host_.spec("    probe: {files: {/etc/probe.conf: one}, custom: naps, marker: " + marker() + "}\n");
  EXPECT_EQ(edit_during_apply("etc/probe.conf"), 0) << host_.error_text();
  expect_reported_as_drift();
}

// Before the fix, an edit right after the rename was taken for slipway's content.
TEST_F(UserEdits, OfAFileRightAfterItsRenameAreKept) {
  if (std::system("strace true 2> /dev/null") != 0) GTEST_SKIP() << "strace does not work here";
  host_.spec("    probe: {files: {/etc/probe.conf: one}, custom: naps, marker: " + marker() + "}\n");
  host_.folder().file("slowed", "#!/bin/sh\nexport ASAN_OPTIONS=detect_leaks=0\nexec strace -f -qq -o /dev/null " +
                                    std::string("-e trace=renameat -e inject=renameat:delay_exit=500000 '") +
                                    host_.program + "' \"$@\"\n");
  std::filesystem::permissions(host_.folder().at("slowed"), std::filesystem::perms(0755));
  const std::string program = std::exchange(host_.program, host_.folder().at("slowed").string());
  EXPECT_EQ(edit_during_apply("etc/probe.conf"), 0) << host_.error_text();
  host_.program = program;
  expect_reported_as_drift();
}

TEST_F(UserEdits, OfAFileThatThisApplyRestoresAreKept) {
  host_.put("etc/probe.conf", "the user's\n");
  host_.spec("    probe: {files: {/etc/probe.conf: one, /new/file: x}, custom: naps and fails}\n");
  EXPECT_EQ(edit_during_apply("new/file"), 1);
  EXPECT_EQ(host_.text("etc/probe.conf"), kEdit);
  EXPECT_THAT(host_.error_text(), HasSubstr("/etc/probe.conf was edited while slipway was at work"));
  EXPECT_FALSE(std::filesystem::exists(host_.path("new")));
}

TEST_F(UserEdits, AfterAKillAreKeptByTheNextRun) {
  host_.put("etc/probe.conf", "the user's\n");
  host_.spec("    probe: {files: {/etc/probe.conf: one, /new/file: x}, custom: sleeps}\n");
  const pid_t child = start_until("new/file");
  ::kill(child, SIGKILL);
  end_of(child);
  host_.put("etc/probe.conf", kEdit);
  const Ran removed = host_.slipway({"remove", "--all"});
  ASSERT_EQ(removed.code, 0) << removed.err;
  EXPECT_THAT(removed.out, HasSubstr("/etc/probe.conf was edited while slipway was at work"));
  EXPECT_EQ(host_.text("etc/probe.conf"), kEdit);
  EXPECT_FALSE(std::filesystem::exists(host_.path("new")));
}

TEST_F(UserEdits, BetweenGenerationsAreKeptByUpgradeAndRollback) {
  for (const char* content : {"one", "two"}) {
    host_.spec("    probe: {files: {/etc/probe.conf: " + std::string(content) + "}}\n");
    ASSERT_EQ(host_.slipway({"apply"}).code, 0);
  }
  host_.put("etc/probe.conf", kEdit);
  host_.spec("    probe: {files: {/etc/probe.conf: three}}\n");
  ASSERT_EQ(host_.slipway({"apply"}).code, 0);
  expect_reported_as_drift();
  ASSERT_EQ(host_.slipway({"rollback"}).code, 0);
  EXPECT_EQ(host_.text("etc/probe.conf"), kEdit);
}

}  // namespace
}  // namespace slipway
