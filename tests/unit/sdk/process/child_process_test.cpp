// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <csignal>

#include <gtest/gtest.h>
#include <unistd.h>

#include <slipway/process/child_process.hpp>

namespace slipway {
namespace {

using std::chrono::milliseconds;
using End = ChildResult::End;

ChildProgram shell(const std::string& script) {
  return {.argv = {"/bin/sh", "-c", script}, .environment = {"PATH=/usr/bin:/bin", "NAME=value"}};
}

ChildResult run_shell(const std::string& script, const ChildLimits& how = {}, const std::string& input = {}) {
  auto result = run_child(shell(script), how, input);
  EXPECT_TRUE(result.ok());
  return result ? std::move(*result) : ChildResult{};
}

// The result does not depend on time: an endless program is read until it is killed.
constexpr const char* kForEver = "echo begun; while :; do sleep 1; done";

TEST(Hear, GivesBothStreamsAndTheStatus) {
  const ChildResult result = run_shell("echo out; echo err >&2; exit 3");
  EXPECT_EQ(result.end, End::by_itself);
  EXPECT_EQ(result.output, "out\n");
  EXPECT_EQ(result.errors, "err\n");
  EXPECT_EQ(exit_status_of(result.status), 3);
  EXPECT_EQ(ending_of(result.status), "exit status 3");
}

TEST(Hear, ReportsTheSignalThatEndedIt) {
  const ChildResult result = run_shell("kill -ABRT $$");
  EXPECT_EQ(exit_status_of(result.status), 128 + SIGABRT);
  EXPECT_EQ(ending_of(result.status), "signal 6");
}

TEST(Hear, GivesTheInputAndTheWholeEnvironment) {
  EXPECT_EQ(run_shell("cat; echo $NAME; env | wc -l", {}, "a line\n").output.substr(0, 13), "a line\nvalue\n");
  EXPECT_EQ(run_shell("cat").output, "") << "/dev/null";
}

TEST(Hear, TakesNoInputThatDoesNotFitIntoAPipe) {
  const auto result = run_child(shell("cat"), {}, std::string(2U << 20U, 'x'));
  ASSERT_FALSE(result.ok());
  EXPECT_NE(result.error().what.find("the input of a program"), std::string::npos);
}

TEST(Hear, NamesAProgramThatCannotBeStarted) {
  const auto result = run_child({.argv = {"/nowhere/program"}, .environment = {}}, {});
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.error().code, ErrorCode::not_found);
  EXPECT_NE(result.error().what.find("/nowhere/program"), std::string::npos);
}

TEST(Hear, FindsAProgramInPathWhenItsNameHasNoSlash) {
  EXPECT_EQ(run_child({.argv = {"true"}, .environment = {}}, {})->status, 0);
}

TEST(Hear, KillsAProcessBeyondTheLimit) {
  const ChildResult result = run_shell(kForEver, {.limit = milliseconds(50)});
  EXPECT_EQ(result.end, End::timed_out);
  EXPECT_EQ(exit_status_of(result.status), 128 + SIGKILL);
}

TEST(Hear, TermsFirstWhereThereIsAGrace) {
  ChildProgram program = shell("trap 'echo ended; exit 7' TERM; echo begun; while :; do sleep 0.01; done");
  const auto pipe = make_pipe();
  ASSERT_TRUE(pipe.ok());
  program.descriptors = {kDevNull, pipe->write.get(), kDevNull};
  const auto pid = start_program(program);
  ASSERT_TRUE(pid.ok());
  std::array<char, 6> word{};
  EXPECT_GT(::read(pipe->read.get(), word.data(), word.size()), 0) << "the trap is set";
  const ChildResult result = await_child({*pid, {}, {}, false}, {.limit = milliseconds(0), .grace = kForever});
  EXPECT_EQ(result.end, End::timed_out);
  EXPECT_EQ(exit_status_of(result.status), 7);
}

TEST(Hear, KeepsTheNewestOfAFlood) {
  const ChildResult result = run_shell("yes | head -c 500000; echo the end", {.most_bytes = 1000});
  EXPECT_EQ(result.end, End::by_itself);
  EXPECT_EQ(result.output.size(), 1000U);
  EXPECT_TRUE(result.output.ends_with("the end\n"));
  EXPECT_TRUE(result.truncated);
}

TEST(Hear, EndsAFloodWhenThatIsAsked) {
  EXPECT_EQ(run_shell("yes", {.most_bytes = 1000, .ends_flood = true}).end, End::flooded);
  EXPECT_EQ(run_shell("yes | head -c 2000", {.most_bytes = 1000, .ends_flood = true}).end, End::flooded);
}

TEST(Hear, StopsOnRequestAndPassesTheOutputOn) {
  std::string seen;
  const ChildResult result = run_shell(
      kForEver, {.stop = [&] { return seen == "begun\n"; }, .on_output = [&](std::string_view part) { seen += part; }});
  EXPECT_EQ(result.end, End::stopped);
  EXPECT_EQ(seen, "begun\n");
  EXPECT_TRUE(result.output.empty());
}

TEST(Hear, DoesNotWaitForRemainingProcesses) {
  const ChildResult result = run_shell("sleep 1000 & echo $!");
  EXPECT_EQ(result.end, End::by_itself);
  EXPECT_EQ(::kill(std::stoi(result.output), SIGKILL), 0) << "it goes on";
}

TEST(Hear, WaitsForTheLastWriterWhenThatIsAsked) {
  const ChildResult result = run_shell("(sleep 0.2; echo late) & echo early", {.to_last_writer = true});
  EXPECT_EQ(result.output, "early\nlate\n");
}

TEST(Hear, KillsTheWholeSessionOfALateProcess) {
  std::string seen;
  ChildProgram program = shell("sh -c 'echo begun; while :; do sleep 1; done' & wait");
  program.own_session = true;
  // Returns only when the started program cannot write any more either.
  const auto result = run_child(program, {.to_last_writer = true,
                                          .stop = [&] { return !seen.empty(); },
                                          .on_output = [&](std::string_view part) { seen += part; }});
  ASSERT_TRUE(result.ok());
  EXPECT_EQ(result->end, End::stopped);
}

/// Of 31 signals; the C library uses two beyond them for itself.
unsigned long long mask_of(const std::string& status, const std::string& name) {
  const std::size_t at = status.find(name + ":\t");
  return at == std::string::npos ? ~0ULL : std::stoull(status.substr(at + name.size() + 2), nullptr, 16) & 0x7fffffffU;
}

TEST(StartProgram, BlocksNoSignalAndIgnoresNoneInASessionOfItsOwn) {
  sigset_t blocked;
  sigset_t before;
  sigemptyset(&blocked);
  sigaddset(&blocked, SIGUSR1);
  ::sigprocmask(SIG_BLOCK, &blocked, &before);
  const auto pipe_before = ::signal(SIGPIPE, SIG_IGN);
  const auto hangup_before = ::signal(SIGHUP, SIG_IGN);
  ChildProgram program{.argv = {"cat", "/proc/self/status"}, .environment = {}};
  const auto beside = run_child(program, {});
  program.own_session = true;
  const auto alone = run_child(program, {});
  ::signal(SIGHUP, hangup_before);
  ::signal(SIGPIPE, pipe_before);
  ::sigprocmask(SIG_SETMASK, &before, nullptr);
  EXPECT_EQ(mask_of(alone->output, "SigBlk"), 0U);
  EXPECT_EQ(mask_of(alone->output, "SigIgn"), 0U);
  EXPECT_EQ(mask_of(beside->output, "SigBlk"), 0U);
  EXPECT_EQ(mask_of(beside->output, "SigIgn") & 0x1001U, 1U) << "SIGHUP is ignored, and SIGPIPE is not";
}

TEST(StartProgram, GivesTheDescriptorsThatAreNamedAndNoPipeBesides) {
  const auto pipe = make_pipe();
  ASSERT_TRUE(pipe.ok());
  for (const int number : {pipe->read.get(), pipe->write.get()}) {
    EXPECT_GT(number, 9);
    EXPECT_NE(run_shell("test -e /proc/$$/fd/" + std::to_string(number)).status, 0) << "it is closed there";
  }
  ChildProgram program = shell("echo word >&3");
  program.descriptors = {kDevNull, kDevNull, kDevNull, pipe->write.get()};
  EXPECT_EQ(run_child(program, {})->status, 0);
  std::array<char, 5> word{};
  EXPECT_EQ(::read(pipe->read.get(), word.data(), word.size()), 5);
  EXPECT_EQ(std::string(word.data(), 5), "word\n");
}

TEST(ChildEnded, GivesTheStatusOrSaysThatItContinues) {
  const auto pipe = make_pipe();
  ASSERT_TRUE(pipe.ok());
  ChildProgram program = shell("read -r line; exit 4");
  program.descriptors = {pipe->read.get(), kDevNull, kDevNull};
  const auto pid = start_program(program);
  ASSERT_TRUE(pid.ok());
  int status = -1;
  EXPECT_FALSE(child_ended(*pid, milliseconds(1), &status));
  EXPECT_EQ(status, -1);
  EXPECT_EQ(::write(pipe->write.get(), "\n", 1), 1);
  EXPECT_TRUE(child_ended(*pid, kForever, &status));
  EXPECT_EQ(exit_status_of(status), 4);
  EXPECT_TRUE(child_ended(*pid, milliseconds(0), &status)) << "nobody's child any more";
}

TEST(TimeLeft, IsNeverNegativeAndRoundsUp) {
  const auto now = std::chrono::steady_clock::now();
  EXPECT_EQ(time_left(now - std::chrono::hours(1)), milliseconds(0));
  EXPECT_GT(time_left(now + std::chrono::hours(1)), milliseconds(0));
}

}  // namespace
}  // namespace slipway
