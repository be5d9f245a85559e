// SPDX-License-Identifier: Apache-2.0
// tests/component/plugin-check/check_test.cpp - `slipway plugin check` finds each fault, by name and in words, and no
// other.
#include <filesystem>
#include <ostream>

#include "tests/component/plugin-check/check_report.hpp"
#include "tests/unit/base/write/deep_tree.hpp"

namespace slipway {
namespace {

using slipway::testing::check_spec;
using slipway::testing::Ran;
using slipway::testing::ScratchHost;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

using Report = slipway::testing::CheckReport;
Report check(const std::string& fault) { return check_spec("    faulty: {fault: " + fault + "}\n"); }

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

// Before the fix, a file of the image that was a link to a file of this machine was written through, and so was a link
// in place of /var.
TEST(PluginCheck, WritesNothingOutsideOfTheRootThatItCopies) {
  for (const std::string way : {"etc/faulty.conf", "var"}) {
    const ScratchHost host;
    const auto image = host.folder().path() / "image";
    const auto outside = host.folder().path() / "outside";
    std::filesystem::create_directories(image / "etc");
    std::filesystem::create_directories(outside);
    if (way == "var") {
      std::filesystem::create_directory_symlink(outside, image / way);
    } else {
      std::ofstream(outside / "file") << "of this machine";
      std::filesystem::create_symlink(outside / "file", image / way);
    }
    host.spec("    faulty: {fault: none}\n");
    const Ran ran = host.slipway({"plugin", "check", SLIPWAY_FAULTY, "-f", host.folder().at("host.yaml"), "--root",
                                  image.string(), "-o", "json"});
    EXPECT_NE(ran.code, 139) << way;
    EXPECT_FALSE(std::filesystem::exists(outside / "log")) << way;
    if (way != "var") {
      std::ifstream in(outside / "file");
      EXPECT_EQ(std::string(std::istreambuf_iterator<char>(in), {}), "of this machine") << ran.out << ran.err;
    }
  }
}

TEST(PluginCheck, RefusesARootWhoseFoldersAreNestedTooDeep) {
  const ScratchHost host;
  const auto image = host.folder().path() / "image";
  testing::make_deep_tree(image.string(), 300);
  host.spec("    faulty: {fault: none}\n");
  const Ran ran =
      host.slipway({"plugin", "check", SLIPWAY_FAULTY, "-f", host.folder().at("host.yaml"), "--root", image.string()});
  EXPECT_EQ(ran.code, 1);
  EXPECT_THAT(ran.out + ran.err, HasSubstr("nested deeper than 256"));
}

// Debian's packages also leave groups behind: files may belong to them.
TEST(PluginCheck, AllowsGroupsThatRemain) {
  const Report report = check("makes-groups");
  EXPECT_EQ(report.code, 0);
  EXPECT_THAT(report.failed, ::testing::IsEmpty());
}

// Before the fix, groups were created only at the end of an apply, after later actions had failed.
TEST(PluginCheck, AllowsAGroupOfAnEarlierComponent) {
  Report report = check_spec("    faulty: {fault: makes-groups}\n    lame: {group: faulty}\n");
  for (const char* name : {"plugin.fresh-host", "plugin.second-run", "plugin.killed", "plugin.offline-root"})
    EXPECT_TRUE(report.passed.contains(name)) << name << ::testing::PrintToString(report.failed);
  report.failed.erase("plugin.no-hardware");  // no component creates the group there
  EXPECT_THAT(report.failed, ::testing::IsEmpty());
}

TEST(PluginCheck, NamesTheVariableOfASecret) {
  const Report report = check_spec("    faulty: {token: {env: SLIPWAY_TEST_NOT_SET}}\n");
  EXPECT_EQ(report.code, 1);
  EXPECT_THAT(report.failed.at("plugin.plan"),
              HasSubstr("token should be read from the variable SLIPWAY_TEST_NOT_SET, which is not set"));
}

TEST(PluginCheck, AllowsASecretThroughTheHost) {
  const slipway::testing::TempDir folder;
  folder.file("token", "hunter2\n");
  std::filesystem::permissions(folder.at("token"), std::filesystem::perms(0600));
  const Report report =
      check_spec("    faulty: {fault: reads-a-secret, token: {file: " + folder.string() + "/token}}\n");
  EXPECT_EQ(report.code, 0);
  EXPECT_THAT(report.failed, ::testing::IsEmpty());
}

TEST(PluginCheck, AllowsAVariableOfASecret) {
  ::setenv("FAULTY_TOKEN", "hunter2", 1);
  const Report report = check_spec("    faulty: {fault: reads-a-secret, token: {env: FAULTY_TOKEN}}\n");
  ::unsetenv("FAULTY_TOKEN");
  EXPECT_EQ(report.code, 0);
  EXPECT_THAT(report.failed, ::testing::IsEmpty());
}

TEST(PluginCheck, FindsAMachineAndPluginsThatAreNamedFromTheWorkingFolder) {
  ScratchHost host;
  host.plugins = "plugins";
  host.spec("    faulty: {}\n");
  host.folder().file("machine.yaml",
                     "apiVersion: slipway.dev/sim/v1\nname: machine\nabout: a GPU\nmachine: {arch: x86_64, kernel: "
                     "6.1.0-50-amd64}\npci:\n  - {role: other, vendor: \"0x10de\", device: \"0x2330\", class: "
                     "\"0x030200\", at: [{address: \"0000:05:00.0\"}]}\n");
  const std::filesystem::path before = std::filesystem::current_path();
  std::filesystem::current_path(host.folder().string());
  const std::filesystem::path plugins = std::filesystem::path(SLIPWAY_FAULTY).parent_path();
  std::filesystem::create_directory_symlink(plugins, "plugins");
  const Ran ran = host.slipway({"plugin", "check", "plugins/faulty.so", "-f", "host.yaml", "--sim", "./machine.yaml"});
  std::filesystem::current_path(before);
  EXPECT_EQ(ran.code, 0) << ran.out << ran.err;
}

TEST(PluginCheck, NamesAPluginThatVerifiesNothing) {
  const Report report = check("verify-finds-nothing");
  EXPECT_EQ(report.code, 0);
  EXPECT_THAT(report.not_exercised.at("plugin.verify"), HasSubstr("adds no findings of its own"));
}

TEST(PluginCheck, NamesACustomActionThatCannotBeCarriedOut) {
  const Report report = check_spec("    lame: {custom: true}\n");
  EXPECT_EQ(report.code, 1);
  EXPECT_THAT(report.failed.at("plugin.custom"), HasSubstr("lame plans the custom action 'act' and has no apply()"));
  EXPECT_THAT(report.failed.at("plugin.custom"), Not(HasSubstr("has no check()")));
  EXPECT_FALSE(check_spec("    lame: {}\n").failed.contains("plugin.custom"));
}

TEST(PluginCheck, WarnsOfAnOrderAfterAnUnknownComponent) {
  const Report report = check("none");
  EXPECT_EQ(report.code, 0);
  EXPECT_THAT(report.warned.at("plugin.order"), HasSubstr("lame comes after 'nobody'"));
}

// Before the fix, a failed plan was reported in full for each of the machines.
TEST(PluginCheck, ReportsEachCauseOnce) {
  const Report report = check("undeclared-key");
  std::size_t told = 0;
  for (const auto& [name, text] : report.failed)
    told += text.find("the spec's key 'mod'") != std::string::npos ? 1U : 0U;
  EXPECT_EQ(told, 1U);
  EXPECT_THAT(report.failed.at("plugin.offline-root"), HasSubstr("for the same reason as plugin.plan"));
}

TEST(PluginCheck, LeavesNothingBehind) {
  const ScratchHost host;
  const std::string temporary = host.folder().at("tmp");
  std::filesystem::create_directory(temporary);
  ::setenv("TMPDIR", temporary.c_str(), 1);
  const Ran ran = host.slipway({"plugin", "check", SLIPWAY_FAULTY});
  ::unsetenv("TMPDIR");
  EXPECT_EQ(ran.code, 0) << ran.out << ran.err;
  EXPECT_THAT(ran.out, HasSubstr("Nothing is wrong with the plugin"));
  EXPECT_TRUE(std::filesystem::is_empty(temporary));
}

TEST(PluginCheck, RefusesAFileThatIsNotAPlugin) {
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

TEST_P(PluginCheckOf, ReportsTheFault) {
  const Fault& fault = GetParam();
  const Report report = check(fault.name);
  EXPECT_EQ(report.code, 1);
  ASSERT_TRUE(report.failed.contains(fault.finding)) << ::testing::PrintToString(report.failed);
  EXPECT_THAT(report.failed.at(fault.finding), HasSubstr(fault.says));
}

constexpr Fault kFaults[] = {
    {"crashes", "plugin.detect", "detect fails"},
    {"writes-when-looking", "plugin.plan", "made: /etc/sneaky"},
    {"other-plan-each-time", "plugin.plan", "differ: file /etc/faulty.conf (content, line 1: \""},
    {"other-facts-each-time", "plugin.detect", "faulty: random"},
    {"reads-the-environment", "plugin.plan",
     "depends on the variable TZ: file /etc/faulty.conf (content, line 2: \"here\" -> \"Pacific/Chatham\")"},
    {"undeclared-key", "plugin.plan", "the spec's key 'mod' is read, but the manifest does not have it"},
    {"mistyped-key", "plugin.plan", "the spec's key 'fault' is read as true or false, but the spec has a string there"},
    {"json-of-another-type", "plugin.plan", "spec.components.faulty.fault"},
    {"custom-without-calls", "plugin.plan",
     "the plugin of faulty plans the custom action 'act' but cannot carry it out"},
    {"exec-without-check", "plugin.plan", "the step 'act' has no check"},
    {"only-on-an-l4", "plugin.plan", "--sim PROFILE: the component has something to do on l4x1)"},
    {"for-another-vendor", "plugin.plan",
     "no GPU of AMD's give it what it needs: a machine (--sim FILE, a profile of your own"},
    {"never-settles", "plugin.fresh-host",
     "plans something else (file /etc/faulty.conf): content, line 2: \"first\\n\" -> \"again\\n\""},
    {"verify-writes", "plugin.remove", "made: /etc/seen"},
    {"verify-fails", "plugin.fresh-host", "it never does"},
    {"needs-hardware", "plugin.no-hardware", "there is no GPU"},
    {"needs-a-kernel", "plugin.offline-root", "there is no kernel"}};
INSTANTIATE_TEST_SUITE_P(Each, PluginCheckOf, ::testing::ValuesIn(kFaults));

TEST(PluginNew, WritesACompletePluginOnce) {
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
  EXPECT_THAT(second.err, HasSubstr("already exists"));
}

TEST(PluginNew, RefusesInvalidNames) {
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
