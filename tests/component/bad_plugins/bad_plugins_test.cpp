// SPDX-License-Identifier: Apache-2.0
// A failing component affects only itself: one message, exit status 1, and the others are applied.
#include <chrono>
#include <csignal>

#include "tests/component/engine/scratch_host.hpp"

namespace slipway {
namespace {

using slipway::testing::Ran;
using slipway::testing::ScratchHost;
using ::testing::HasSubstr;
using ::testing::Not;

std::size_t count(const std::string& text, const std::string& part) {
  std::size_t found = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++found;
  return found;
}

class BadPlugin : public ::testing::Test {
 protected:
  BadPlugin() {
    // A crash must be reported as its signal, not as a report of the sanitizer.
    ::setenv("ASAN_OPTIONS", "handle_segv=0:handle_abort=0:detect_leaks=0", 1);
    host_.live = true;  // custom actions run on a live machine only
  }

  static std::string component(const std::string& name, const std::string& when, const std::string& how) {
    return "    " + name + ": {when: " + when + ", how: " + how + "}\n";
  }
  Ran apply(const std::string& bad) {
    host_.spec(bad + "    good: {}\n");
    return host_.slipway({"apply"});
  }
  /// Expects one message with these words, exit status 1, and that all other work is done.
  void expect_only_bad_fails(const Ran& ran, const std::string& words) {
    EXPECT_EQ(ran.code, 1);
    EXPECT_THAT(ran.err, HasSubstr(words));
    EXPECT_EQ(count(ran.err, words), 1U) << ran.err;
    EXPECT_THAT(ran.out, HasSubstr("bad: failed"));
    EXPECT_THAT(ran.out, HasSubstr("good: changed"));
    EXPECT_EQ(host_.text("etc/good"), "here\n");
    EXPECT_EQ(host_.slipway({"status"}).code, 0);
  }

  ScratchHost host_;
};

TEST_F(BadPlugin, ThatCrashesIsReportedWithItsPhase) {
  for (const char* when : {"detect", "plan", "check", "apply", "verify"}) {
    SCOPED_TRACE(when);
    const Ran ran = apply(component("bad", when, "segfault"));
    expect_only_bad_fails(ran, std::string("the plugin of bad crashed in ") + when + ": SIGSEGV");
    const bool in_place = std::string(when) == "verify";  // its files are as planned: only verify failed
    EXPECT_EQ(std::filesystem::exists(host_.path("etc/bad")), in_place);
    ASSERT_EQ(host_.slipway({"remove", "--all"}).code, 0);
  }
}

TEST_F(BadPlugin, WhoseToolHasTwoOptionsOfOneNameIsCalledDefective) {
  const Ran ran = host_.bare({"bad", "twins", "--wall"});
  EXPECT_EQ(ran.code, 1) << ran.err;
  EXPECT_THAT(
      ran.err,
      HasSubstr("component bad: the tool twins: its options cannot be told apart: two options have the name 'wall'"));
  EXPECT_EQ(host_.bare({"bad", "twins", "--help"}).code, 1);
  EXPECT_EQ(host_.bare({"completion", "names", "options", "--", "bad", "twins"}).out, "");
}

TEST_F(BadPlugin, ThatPrintsWithoutEndIsEnded) {
  expect_only_bad_fails(apply(component("bad", "detect", "print")), "the plugin of bad printed more than 16 MiB");
}

TEST_F(BadPlugin, ThatAllocatesTwentyGigabytesIsRefusedThem) {
  const Ran ran = apply(component("bad", "plan", "allocate"));
  expect_only_bad_fails(ran, "ran out of memory, of which it may use 1024 MiB");
  EXPECT_THAT(ran.err, Not(HasSubstr("got all of it")));
}

TEST_F(BadPlugin, ThatThrowsAnUnknownExceptionIsReported) {
  for (const char* when : {"detect", "plan", "apply", "verify"}) {
    SCOPED_TRACE(when);
    expect_only_bad_fails(apply(component("bad", when, "throw")), "threw an exception of an unknown type");
    ASSERT_EQ(host_.slipway({"remove", "--all"}).code, 0);
  }
}

TEST_F(BadPlugin, ThatPlansSomethingElseEachTimeIsCalledDefective) {
  expect_only_bad_fails(apply(component("bad", "never", "moody")),
                        "bug in plugin bad: right after apply it plans something else (file /etc/bad)");
}

TEST_F(BadPlugin, WhoseOutputsBreakItsOwnManifestIsReported) {
  expect_only_bad_fails(
      apply(component("bad", "never", "mistype")),
      "bad gives the output 'number' = \"three\", which is not of the type integer, as its manifest says");
  EXPECT_FALSE(std::filesystem::exists(host_.path("etc/bad")));
}

/// Processes with this word in their environment.
std::size_t processes_with(const std::string& word) {
  std::size_t found = 0;
  for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
    std::ifstream in(entry.path() / "environ", std::ios::binary);
    std::ostringstream text;
    text << in.rdbuf();
    if (text.str().find(word) != std::string::npos) ++found;
  }
  return found;
}

// The limit of detect is 60 s, and both run at the same time.
TEST_F(BadPlugin, ThatSleepsOrForksIsEndedAtItsDeadlineWithAllDescendants) {
  const std::string mark = "SLIPWAY_BAD_TEST=" + host_.folder().at("").string();
  ::setenv("SLIPWAY_BAD_TEST", host_.folder().at("").c_str(), 1);
  host_.spec(component("bad", "detect", "sleep") + component("worse", "detect", "fork") + "    good: {}\n");
  const pid_t child = host_.start({"apply"});
  ::unsetenv("SLIPWAY_BAD_TEST");
  constexpr std::size_t kMany = 100;
  std::size_t most = 0;
  int status = 0;
  const auto begin = std::chrono::steady_clock::now();
  while (::waitpid(child, &status, WNOHANG) == 0 &&
         std::chrono::steady_clock::now() - begin < std::chrono::minutes(4)) {
    if (most <= kMany) most = std::max(most, processes_with(mark));
    ::usleep(200'000);
  }
  EXPECT_GT(most, kMany);  // it had not been stopped before
  EXPECT_EQ(processes_with(mark), 0U);
  ASSERT_TRUE(WIFEXITED(status));
  const std::string err = host_.error_text();
  EXPECT_EQ(WEXITSTATUS(status), 1) << err;
  for (const char* name : {"bad", "worse"})
    EXPECT_EQ(count(err, "the plugin of " + std::string(name) + " did not finish detect within 60 s"), 1U) << err;
  EXPECT_EQ(host_.text("etc/good"), "here\n");
}

}  // namespace
}  // namespace slipway
