// SPDX-License-Identifier: Apache-2.0
// Two components that claim one path, found when either of the two is planned later or was applied before.
#include "scratch_host.hpp"

namespace slipway {
namespace {

using slipway::testing::Ran;
using slipway::testing::ScratchHost;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr const char* kHolds = "    bystander: {file: /etc/taken}\n";
constexpr const char* kWants = "    probe: {files: {/etc/taken: \"mine\\n\"}}\n";

// Before the fix, only the first plan was checked: a component that was planned later overwrote another's file.
TEST(Clash, IsFoundWhenAComponentIsPlannedAtItsTurn) {
  const ScratchHost host;
  host.spec(std::string(kHolds) + "    probe: {files: {/etc/probe.conf: one}}\n" +
            "    follower: {needs: /etc/probe.conf, file: /etc/taken}\n");
  const Ran apply = host.slipway({"apply"});
  EXPECT_EQ(apply.code, 1);
  EXPECT_THAT(apply.err, HasSubstr("follower wants file /etc/taken, which bystander holds"));
  EXPECT_EQ(host.text("etc/taken"), "here\n");
  EXPECT_EQ(host.text("etc/probe.conf"), "one");
}

// Before the fix, `--only` checked only its own components, and took over files of others.
TEST(Clash, IsFoundWithComponentsOutsideOfOnly) {
  const ScratchHost host;
  host.spec(kHolds);
  ASSERT_EQ(host.slipway({"apply"}).code, 0);
  host.spec(std::string(kHolds) + kWants);
  const auto before = host.tree();
  for (const char* command : {"plan", "apply"}) {
    const Ran refused = host.slipway({command, "--only", "probe", "-f", host.folder().at("host.yaml").string()});
    EXPECT_EQ(refused.code, 1) << refused.out;
    EXPECT_THAT(refused.out + refused.err, HasSubstr("probe wants file /etc/taken, which bystander holds"));
    EXPECT_EQ(host.tree(), before);
  }
}

// Before the fix, a third-party plugin that claimed a file of the driver's made the driver fail.
TEST(Clash, KeepsTheClaimOfTheEarlierComponentAndFailsTheNewOne) {
  const ScratchHost host;
  host.spec(kHolds);
  ASSERT_EQ(host.slipway({"apply"}).code, 0);
  host.spec(std::string("    bystander: {file: /etc/taken, merges: {/etc/new.json: '{\"a\": 1}'}}\n") + kWants);
  const Ran plan = host.slipway({"plan"});
  EXPECT_EQ(plan.code, 1);
  EXPECT_THAT(plan.out, HasSubstr("probe wants file /etc/taken, which bystander holds"));
  EXPECT_THAT(plan.out, Not(HasSubstr("bystander: failed")));
  const Ran apply = host.slipway({"apply"});
  EXPECT_EQ(apply.code, 1) << apply.out;
  EXPECT_EQ(host.text("etc/taken"), "here\n");
  EXPECT_TRUE(std::filesystem::exists(host.path("etc/new.json"))) << "the other changes of the component";
}

// Before the fix, neither of the two plugin files was named.
TEST(Clash, NamesThePluginsOfBothAndWhatToDo) {
  ScratchHost host;
  host.plugins = std::string(SLIPWAY_TEST_PLUGINS) + ":" + SLIPWAY_GUEST_PLUGINS;
  host.spec("    guest: {}\n    probe: {files: {/etc/guest: mine}}\n");
  const Ran plan = host.slipway({"plan"});
  EXPECT_EQ(plan.code, 1);
  EXPECT_THAT(plan.out, HasSubstr("probe and guest both want file /etc/guest"));
  EXPECT_THAT(plan.out, HasSubstr(std::string("probe: ") + SLIPWAY_TEST_PLUGINS + "/probe.so (0.1.0)"));
  EXPECT_THAT(plan.out, HasSubstr(std::string("guest: ") + SLIPWAY_GUEST_PLUGINS + "/guest.so (0.1.0)"));
  EXPECT_THAT(plan.out, HasSubstr("remove probe or guest from the spec"));
}

TEST(Clash, IsNotReportedWhenAFileMovesToAnotherComponent) {
  const ScratchHost host;
  host.spec(kHolds);
  ASSERT_EQ(host.slipway({"apply"}).code, 0);
  host.spec(std::string("    bystander: {}\n") + kWants);
  const Ran apply = host.slipway({"apply"});
  ASSERT_EQ(apply.code, 0) << apply.err;
  EXPECT_EQ(host.text("etc/taken"), "mine\n");
}

/// Expects that a plan with both is refused for both, and changes nothing.
void expect_both_refused(const ScratchHost& host, const std::string& components, const std::string& words) {
  host.spec(components);
  const auto before = host.tree();
  for (const char* command : {"plan", "apply"}) {
    const Ran refused = host.slipway({command});
    EXPECT_EQ(refused.code, 1) << refused.out << refused.err;
    EXPECT_THAT(refused.out + refused.err, HasSubstr("probe and bystander both want " + words));
    EXPECT_THAT(refused.out + refused.err, HasSubstr("bystander and probe both want "));
    EXPECT_EQ(host.tree(), before) << command;
  }
}

std::string raw(const std::string& action) { return "    probe: {raw: ['" + action + "']}\n"; }

// Before the fix, the first of the two was applied.
TEST(Clash, OfTwoComponentsRefusesBoth) {
  const ScratchHost host;
  expect_both_refused(host, std::string(kHolds) + kWants, "file /etc/taken");
}

// Before the fix, another spelling, or another kind of action, avoided the check for one owner.
TEST(Clash, IsFoundForEverySpellingOfAPathAndEveryAction) {
  const ScratchHost host;
  for (const char* path : {"/etc//taken", "/etc/./taken", "//etc/taken/", "/etc/taken/."}) {
    SCOPED_TRACE(path);
    expect_both_refused(host, "    bystander: {file: " + std::string(path) + "}\n" + kWants, "file /etc/taken");
    expect_both_refused(host,
                        kHolds + raw(R"({"kind": "file", "target": ")" + std::string(path) + R"(", "content": ""})"),
                        "file /etc/taken");
  }
  for (const char* kind : {"symlink", "remove", "directory", "service-file"})
    expect_both_refused(
        host, kHolds + raw(R"({"kind": ")" + std::string(kind) + R"(", "target": "/etc/taken", "points_to": "x"})"),
        std::string(kind) + " /etc/taken");
  expect_both_refused(host,
                      std::string("    bystander: {file: /etc/systemd/system/acme.service}\n") +
                          "    probe: {units: {acme.service: \"[Service]\\nExecStart=/bin/true\\n\"}}\n",
                      "file /etc/systemd/system/acme.service");
  expect_both_refused(host,
                      "    bystander: {file: /etc/taken.json}\n    probe: {merges: {/etc/taken.json: '{\"a\": 1}'}}\n",
                      "a in /etc/taken.json");
  expect_both_refused(host, "    bystander: {file: /etc/taken/below}\n" + std::string(kWants), "file /etc/taken");
}

TEST(Clash, IsFoundThroughLinksOfTheRootAndOfAPlan) {
  const ScratchHost host;
  std::filesystem::create_directories(host.path("usr/lib"));
  std::filesystem::create_directories(host.path("run"));
  std::filesystem::create_directories(host.path("var"));
  std::filesystem::create_symlink("usr/lib", host.path("lib"));
  std::filesystem::create_symlink("../run", host.path("var/run"));
  const auto wants = [](const std::string& path) { return "    probe: {files: {" + path + ": x}}\n"; };
  expect_both_refused(host, "    bystander: {file: /usr/lib/acme/x}\n" + wants("/lib/acme/x"), "file /lib/acme/x");
  expect_both_refused(host, "    bystander: {file: /run/acme}\n" + wants("/var/run/acme"), "file /var/run/acme");
  expect_both_refused(host,
                      "    bystander: {file: /opt/acme-1/x}\n    probe: {files: {/opt/acme/x: x}, "
                      "raw: ['{\"kind\": \"symlink\", \"target\": \"/opt/acme\", \"points_to\": \"acme-1\"}']}\n",
                      "file /opt/acme/x");
  host.spec("    bystander: {file: /lib/acme/y}\n" + wants("/usr/lib/acme/x"));
  EXPECT_EQ(host.slipway({"apply"}).code, 0);
  EXPECT_EQ(host.text("usr/lib/acme/y"), "here\n");
}

// A merge writes to the target of a link at its path; before the fix, only the link was claimed, and one key had two
// owners.
TEST(Clash, IsFoundWhereAMergeFollowsALinkAtItsPath) {
  const ScratchHost host;
  std::filesystem::create_directories(host.path("etc/docker"));
  std::filesystem::create_symlink("/etc/first.json", host.path("etc/docker/daemon.json"));
  std::filesystem::create_symlink("other.json", host.path("etc/first.json"));
  std::ofstream(host.path("etc/other.json")) << "{}\n";
  const auto merges = [](const std::string& component, const std::string& path, const std::string& text) {
    return "    " + component + ": {merges: {" + path + ": '" + text + "'}}\n";
  };
  const std::string probe = merges("probe", "/etc/docker/daemon.json", R"({"a": 1})");
  for (const char* path : {"/etc/other.json", "/etc/first.json"})
    expect_both_refused(host, merges("bystander", path, R"({"a": 2})") + probe,
                        "a in /etc/docker/daemon.json (of bystander: a in " + std::string(path) + ")");
  expect_both_refused(host,
                      merges("bystander", "/etc/new.json", R"({"a": 1})") +
                          raw(R"({"kind": "symlink", "target": "/etc/new.json", "points_to": "other.json"})"),
                      "symlink /etc/new.json (of bystander: a in /etc/new.json)");
  host.spec(merges("bystander", "/etc/other.json", R"({"b": 2})") + probe);
  const Ran apply = host.slipway({"apply"});
  ASSERT_EQ(apply.code, 0) << apply.err;
  EXPECT_EQ(Json::parse(host.text("etc/other.json")), (Json{{"a", 1}, {"b", 2}}));
}

TEST(Clash, OfAComponentWithItselfIsADefect) {
  const ScratchHost host;
  std::filesystem::create_directories(host.path("usr/lib"));
  std::filesystem::create_symlink("usr/lib", host.path("lib"));
  host.spec("    probe: {files: {/lib/x: a, /usr/lib/x: b}}\n");
  const Ran refused = host.slipway({"apply"});
  EXPECT_EQ(refused.code, 1);
  EXPECT_THAT(refused.err, HasSubstr("the plan of probe has one path twice: file /lib/x and file /usr/lib/x"));
  EXPECT_TRUE(std::filesystem::is_empty(host.path("usr/lib")));
}

// Before the fix, such a file was created, somewhere, and stayed after `remove --all`.
TEST(Path, ThatIsNotAbsoluteOrClimbsIsRefusedAsADefect) {
  const ScratchHost host;
  for (const auto& [path, why] : std::map<std::string, std::string>{{"etc/x", "is not absolute"},
                                                                    {"/usr/../etc/x", "has '..' in it"},
                                                                    {"../../escape", "is not absolute"},
                                                                    {"/../escape", "has '..' in it"},
                                                                    {"/", "is the root itself"}}) {
    SCOPED_TRACE(path);
    for (const std::string& components : {"    bystander: {file: " + path + "}\n",
                                          raw(R"({"kind": "file", "target": ")" + path + R"(", "content": "x"})")}) {
      host.spec(components);
      const auto before = host.tree();
      const Ran refused = host.slipway({"apply"});
      EXPECT_EQ(refused.code, 1) << refused.out;
      EXPECT_THAT(refused.err, HasSubstr("the path '" + path + "' " + why));
      EXPECT_EQ(host.tree(), before);
    }
  }
}

TEST(Path, InAnotherSpellingIsOneFileThatRemovalTakesAway) {
  const ScratchHost host;
  host.spec("    bystander: {file: /etc//./acme//x/}\n");
  ASSERT_EQ(host.slipway({"apply"}).code, 0);
  EXPECT_EQ(host.text("etc/acme/x"), "here\n");
  EXPECT_EQ(host.slipway({"plan"}).code, 0);
  host.spec("    bystander: {file: /etc/acme/x}\n");
  EXPECT_EQ(host.slipway({"plan"}).code, 0) << "the same file";
  ASSERT_EQ(host.slipway({"remove", "--yes", "--all"}).code, 0);
  EXPECT_FALSE(std::filesystem::exists(host.path("etc")));
}

// A path that an earlier version recorded in another spelling is the same file.
TEST(Path, ThatWasRecordedInAnotherSpellingIsTakenOver) {
  const ScratchHost host;
  host.spec("    bystander: {file: /etc/acme}\n");
  ASSERT_EQ(host.slipway({"apply"}).code, 0);
  const auto record = host.path("var/lib/slipway/components/bystander.json");
  std::string text = host.text("var/lib/slipway/components/bystander.json");
  for (std::size_t at = 0; (at = text.find("\"/etc/acme\"", at)) != std::string::npos; at += 12)
    text.replace(at, 11, "\"/etc//acme\"");
  std::ofstream(record) << text;
  const Ran plan = host.slipway({"plan"});
  EXPECT_EQ(plan.code, 0) << plan.out << plan.err;
  ASSERT_EQ(host.slipway({"remove", "--yes", "--all"}).code, 0);
  EXPECT_FALSE(std::filesystem::exists(host.path("etc/acme")));
}

}  // namespace
}  // namespace slipway
