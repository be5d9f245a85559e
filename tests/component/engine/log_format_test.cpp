// SPDX-License-Identifier: Apache-2.0
// The log output of commands on standard error: --log-format, SLIPWAY_LOG and -v.
#include "tests/component/engine/scratch_host.hpp"

namespace slipway {
namespace {

using slipway::testing::Ran;
using slipway::testing::ScratchHost;
using ::testing::AllOf;
using ::testing::Each;
using ::testing::HasSubstr;
using ::testing::MatchesRegex;
using ::testing::Not;

constexpr const char* kLoggedOnce = "    probe: {files: {/etc/probe.conf: one}}\n";
constexpr const char* kLoggedTwice = "    probe: {files: {/etc/probe.conf: two}}\n";
constexpr const char* kLoggedFailing = "    probe: {custom: fails}\n";

/// Sets an environment variable during its lifetime.
class Variable {
 public:
  Variable(const char* name, const char* value) : name_(name) { ::setenv(name, value, 1); }
  Variable(const Variable&) = delete;
  Variable& operator=(const Variable&) = delete;
  ~Variable() { ::unsetenv(name_); }

 private:
  const char* name_;
};

/// Returns the lines of a JSON log. An invalid line fails the test.
std::vector<Json> events(const std::string& log) {
  std::vector<Json> all;
  std::istringstream lines(log);
  for (std::string line; std::getline(lines, line);) {
    all.push_back(Json::parse(line, nullptr, false));
    EXPECT_TRUE(all.back().is_object()) << line;
  }
  return all;
}

/// Returns the first event whose message contains this; null: there is none.
Json event_with(const std::string& log, const std::string& words) {
  for (const Json& event : events(log))
    if (event.value("message", "").find(words) != std::string::npos) return event;
  return nullptr;
}

TEST(LogFormat, AsJsonIsALineForEachEventWithComponentPhaseAndGeneration) {
  const ScratchHost host;
  host.spec(kLoggedOnce);
  const Ran first = host.slipway({"apply", "--log-format", "json"});
  ASSERT_EQ(first.code, 0) << first.err;
  const Json made = event_with(first.err, "/etc/probe.conf");
  EXPECT_THAT(made.value("time", ""), MatchesRegex("20..-..-..T..:..:..\\....Z"));
  EXPECT_EQ(made["level"], "info");
  EXPECT_EQ(made["component"], "probe");
  EXPECT_EQ(made["phase"], "switch");
  EXPECT_FALSE(made.contains("generation")) << "there was none";
  host.spec(kLoggedTwice);
  const Ran second = host.slipway({"apply", "--log-format=json"});
  EXPECT_EQ(event_with(second.err, "/etc/probe.conf").value("generation", 0), 1) << second.err;
}

TEST(LogFormat, AsJsonHasErrorsOfComponentsWhole) {
  ScratchHost host;
  host.live = true;
  host.spec(kLoggedFailing);
  const Ran ran = host.slipway({"apply", "--log-format", "json"});
  EXPECT_EQ(ran.code, 1);
  const auto all = events(ran.err);
  ASSERT_FALSE(all.empty());
  const Json& last = all.back();
  ASSERT_EQ(last["level"], "error") << ran.err;
  EXPECT_EQ(last["component"], "probe");
  EXPECT_EQ(last["error"]["what"], last["message"]);
  EXPECT_TRUE(last["error"]["code"].is_string());
}

TEST(LogFormat, AsJsonHasMistakesOfTheCommandLine) {
  const ScratchHost host;
  const Ran ran = host.slipway({"apply", "--log-format", "json", "--deep"});
  EXPECT_EQ(ran.code, 64);
  const auto all = events(ran.err);
  ASSERT_EQ(all.size(), 1U) << ran.err;
  EXPECT_EQ(all[0]["level"], "error");
  EXPECT_THAT(all[0].value("message", ""), HasSubstr("--deep"));
}

TEST(LogFormat, ThatIsUnknownOrHasNoEffectIsRefused) {
  const ScratchHost host;
  host.spec(kLoggedOnce);
  const Ran unknown = host.slipway({"plan", "--log-format", "xml"});
  EXPECT_EQ(unknown.code, 64);
  EXPECT_THAT(unknown.err, HasSubstr("--log-format takes text or json, not 'xml'"));
  const Ran needless = host.slipway({"explain", "--log-format", "json"});
  EXPECT_EQ(needless.code, 64);
  EXPECT_THAT(needless.err, AllOf(HasSubstr("explain"), HasSubstr("--log-format")));
}

TEST(LogLevel, FollowsTheVariable) {
  const ScratchHost host;
  host.put("etc/probe-says", "is looking\n");
  host.spec(kLoggedOnce);
  {
    const Variable level("SLIPWAY_LOG", "warning");
    EXPECT_EQ(host.slipway({"apply"}).err, "");
  }
  host.spec(kLoggedTwice);
  EXPECT_THAT(host.slipway({"apply"}).err, AllOf(HasSubstr("probe: "), Not(HasSubstr("is looking"))));
  const Variable level("SLIPWAY_LOG", "debug");
  const Json printed = event_with(host.slipway({"plan", "--log-format", "json"}).err, "is looking");
  EXPECT_EQ(printed["level"], "debug");
  EXPECT_EQ(printed["phase"], "detect");
}

TEST(LogLevel, OfTheOptionOverridesTheVariable) {
  const ScratchHost host;
  host.put("etc/probe-says", "is looking\n");
  host.spec(kLoggedOnce);
  const Variable level("SLIPWAY_LOG", "error");
  EXPECT_EQ(host.slipway({"plan"}).err, "");
  EXPECT_THAT(host.slipway({"plan", "-v"}).err, HasSubstr("probe: is looking\n"));
}

TEST(LogLevel, ThatIsInvalidIsAnErrorWithTheAllowedValues) {
  const ScratchHost host;
  host.spec(kLoggedOnce);
  const Variable level("SLIPWAY_LOG", "loud");
  for (const auto& words : {std::vector<std::string>{"plan"}, {"plan", "-v"}, {"status"}}) {
    const Ran ran = host.slipway(words);
    EXPECT_EQ(ran.code, 64) << words.front();
    EXPECT_THAT(ran.err, AllOf(HasSubstr("SLIPWAY_LOG is 'loud'"), HasSubstr("error, warning, info or debug")));
  }
}

// Before the fix, a plugin's text could clear the screen, and write lines that looked like slipway's own.
TEST(LogLine, IsOneLineForAnyMessage) {
  const ScratchHost host;
  host.put("etc/probe-says", "\x1b[2J\rslipway: all is well\x07\n");
  host.spec(kLoggedOnce);
  const std::string text = host.slipway({"plan", "-v"}).err;
  EXPECT_THAT(text, HasSubstr("probe: \\x1b[2J\\rslipway: all is well\\x07\n"));
  EXPECT_THAT(text, Each(Not('\x1b')));
  const std::string json = host.slipway({"plan", "-v", "--log-format", "json"}).err;
  EXPECT_EQ(event_with(json, "all is well")["message"], "\x1b[2J\rslipway: all is well\x07");
  EXPECT_THAT(json, Each(Not('\x1b')));
}

}  // namespace
}  // namespace slipway
