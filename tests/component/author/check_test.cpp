// SPDX-License-Identifier: Apache-2.0
// tests/component/author/check_test.cpp - `slipway plugin check` finds each fault, by name and in words, and no other.
#include <filesystem>
#include <ostream>

#include "tests/component/engine/scratch_host.hpp"

namespace slipway {
namespace {

using slipway::testing::Ran;
using slipway::testing::ScratchHost;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

struct Report {
  int code = -1;
  std::map<std::string, std::string> failed;  ///< finding to text
  std::map<std::string, std::string> passed;
  std::map<std::string, std::string> not_exercised;
  std::map<std::string, std::string>& of(const std::string& status) {
    return status == "fail" ? failed : status == "pass" ? passed : not_exercised;
  }
};

Report check(const std::string& fault) {
  const ScratchHost host;
  host.spec("    faulty: {fault: " + fault + "}\n");
  const Ran ran = host.slipway({"plugin", "check", SLIPWAY_FAULTY, "-f", host.folder().at("host.yaml"), "-o", "json"});
  Report report{ran.code, {}, {}, {}};
  const Json result = Json::parse(ran.out, nullptr, false);
  if (!result.is_object() || !result.contains("findings")) {
    ADD_FAILURE() << ran.out << ran.err;
    return report;
  }
  for (const Json& finding : result["findings"]) report.of(finding["status"])[finding["name"]] = finding["text"];
  return report;
}

TEST(PluginCheck, FindsNothingWrongWithASoundPlugin) {
  const Report report = check("none");
  EXPECT_EQ(report.code, 0);
  EXPECT_THAT(report.failed, ::testing::IsEmpty());
  for (const char* name : {"plan", "fresh-host", "second-run", "verify", "killed", "killed-removal", "foreign-files",
                           "no-hardware", "offline-root", "remove"})
    EXPECT_TRUE(report.passed.contains(std::string("plugin.") + name)) << name;
  EXPECT_THAT(report.passed.at("plugin.killed"), Not(HasSubstr("killed at 0 steps")));
  EXPECT_THAT(report.passed.at("plugin.killed-removal"), Not(HasSubstr("killed at 0 steps")));
}

TEST(PluginCheck, NamesAPluginThatVerifiesNothing) {
  const Report report = check("verify-finds-nothing");
  EXPECT_EQ(report.code, 0);
  EXPECT_THAT(report.not_exercised.at("plugin.verify"), HasSubstr("has no findings"));
}

TEST(PluginCheck, LeavesNothingBehind) {
  const ScratchHost host;
  const std::string temporary = host.folder().at("tmp");
  std::filesystem::create_directory(temporary);
  ::setenv("TMPDIR", temporary.c_str(), 1);
  const Ran ran = host.slipway({"plugin", "check", SLIPWAY_FAULTY});
  ::unsetenv("TMPDIR");
  EXPECT_EQ(ran.code, 0) << ran.out << ran.err;
  EXPECT_THAT(ran.out, HasSubstr("Nothing is wrong with it"));
  EXPECT_TRUE(std::filesystem::is_empty(temporary));
}

TEST(PluginCheck, RefusesWhatIsNoPlugin) {
  const ScratchHost host;
  const Ran ran = host.slipway({"plugin", "check", "/etc/passwd"});
  EXPECT_EQ(ran.code, 1);
  EXPECT_THAT(ran.err, HasSubstr("/etc/passwd"));
}

struct Fault {
  const char* name;
  const char* finding;
  const char* says;
  friend void PrintTo(const Fault& fault, std::ostream* out) { *out << fault.name; }
};

class PluginCheckOf : public ::testing::TestWithParam<Fault> {};

TEST_P(PluginCheckOf, SaysWhatIsWrong) {
  const Fault& fault = GetParam();
  const Report report = check(fault.name);
  EXPECT_EQ(report.code, 1);
  ASSERT_TRUE(report.failed.contains(fault.finding)) << ::testing::PrintToString(report.failed);
  EXPECT_THAT(report.failed.at(fault.finding), HasSubstr(fault.says));
}

INSTANTIATE_TEST_SUITE_P(Each, PluginCheckOf,
                         ::testing::Values(Fault{"crashes", "plugin.detect", "detect fails"},
                                           Fault{"writes-when-looking", "plugin.plan", "made: /etc/sneaky"},
                                           Fault{"other-plan-each-time", "plugin.plan", "differ"},
                                           Fault{"never-settles", "plugin.fresh-host", "plans something else"},
                                           Fault{"verify-writes", "plugin.remove", "made: /etc/seen"},
                                           Fault{"verify-fails", "plugin.fresh-host", "it never does"},
                                           Fault{"needs-hardware", "plugin.no-hardware", "there is no GPU"},
                                           Fault{"needs-a-kernel", "plugin.offline-root", "there is no kernel"}));

TEST(PluginNew, WritesAllOfAPluginOnce) {
  const ScratchHost host;
  const std::string folder = host.folder().at("acme");
  const Ran first = host.slipway({"plugin", "new", "acme-limits", "--to", folder});
  EXPECT_EQ(first.code, 0) << first.err;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    std::ifstream in(entry.path());
    const std::string text{std::istreambuf_iterator<char>(in), {}};
    EXPECT_THAT(text, Not(HasSubstr("@"))) << entry.path();
    EXPECT_THAT(text, HasSubstr("acme-limits")) << entry.path();
  }
  const Ran second = host.slipway({"plugin", "new", "acme-limits", "--to", folder});
  EXPECT_EQ(second.code, 1);
  EXPECT_THAT(second.err, HasSubstr("is there already"));
}

TEST(PluginNew, RefusesNamesThatNoComponentMayHave) {
  const ScratchHost host;
  for (const char* name :
       {"Acme", "9lives", "acme_limits", "a/b", "..", "acme-", "", "a2345678901234567890123456789012345678901"}) {
    const std::string folder = host.folder().at("refused");
    EXPECT_EQ(host.slipway({"plugin", "new", name, "--to", folder}).code, 64) << name;
    EXPECT_FALSE(std::filesystem::exists(folder)) << name;
  }
}

}  // namespace
}  // namespace slipway
