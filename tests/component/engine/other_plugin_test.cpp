// SPDX-License-Identifier: Apache-2.0
// A rollback over versions of a plugin: a generation has the spec, and the installed plugin interprets it.
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

/// A root with two generations of the guest plugin in its version 0.1.0.
class OtherPlugin : public ::testing::Test {
 protected:
  OtherPlugin() {
    host.program = testing::install_into(prefix, {SLIPWAY_TEST_PLUGINS, SLIPWAY_GUEST_PLUGINS});
    host.plugins = prefix.at("usr/lib/slipway/plugins");
    for (const char* text : {"one", "two"}) {
      host.spec(std::string("    probe: {files: {/etc/probe.conf: ") + text + "}}\n    guest: {text: " + text + "}\n");
      const Ran applied = host.slipway({"apply"});
      EXPECT_EQ(applied.code, 0) << applied.out << applied.err;
    }
  }
  void upgrade_the_guest() const {
    fs::copy_file(SLIPWAY_LATER_GUEST, fs::path(host.plugins) / "guest.so", fs::copy_options::overwrite_existing);
  }
  void remove_guest_plugin() const { fs::remove(fs::path(host.plugins) / "guest.so"); }

  testing::TempDir prefix;
  ScratchHost host;
};

// A plugin had a new name for its unit: before the fix, the output was "Nothing to do", without a hint that another
// plugin had made the generation.
TEST_F(OtherPlugin, IsNamedByARollbackWithTheRestoredParts) {
  upgrade_the_guest();
  for (const std::vector<std::string>& words :
       {std::vector<std::string>{"rollback", "1", "--dry-run"}, {"rollback", "1", "--yes"}}) {
    const Ran ran = host.slipway(words);
    EXPECT_NE(ran.code, 1) << ran.out << ran.err;
    EXPECT_THAT(ran.err, AllOf(HasSubstr("generation 1 was applied with guest 0.1.0 (0.2.0 is installed)"),
                               HasSubstr("its spec and its packages are restored"),
                               HasSubstr("names of files and units, defaults of keys"), HasSubstr(" 1` again"),
                               Not(HasSubstr("probe 0."))));
  }
  EXPECT_EQ(host.text("etc/probe.conf"), "one");
  EXPECT_EQ(host.text("etc/guest-of-later"), "one") << "the spec of then, by the plugin of now";
  EXPECT_FALSE(fs::exists(host.path("etc/guest")));
}

// The earlier plugin restores everything, and there is nothing to report.
TEST_F(OtherPlugin, ThatIsInstalledAgainRestoresAllOfItsGeneration) {
  upgrade_the_guest();
  EXPECT_EQ(host.slipway({"apply"}).code, 0);
  EXPECT_TRUE(fs::exists(host.path("etc/guest-of-later")));
  fs::copy_file(fs::path(SLIPWAY_GUEST_PLUGINS) / "guest.so", fs::path(host.plugins) / "guest.so",
                fs::copy_options::overwrite_existing);
  const Ran ran = host.slipway({"rollback", "1", "--yes"});
  EXPECT_EQ(ran.code, 0) << ran.out << ran.err;
  EXPECT_THAT(ran.err, Not(HasSubstr("was applied with")));
  EXPECT_EQ(host.text("etc/guest"), "one");
  EXPECT_FALSE(fs::exists(host.path("etc/guest-of-later")));
}

TEST_F(OtherPlugin, OfTheSameVersionCanBeAnotherBuild) {
  Json generation = Json::parse(host.text("var/lib/slipway/generations/1.json"));
  generation["plugins"]["guest"]["digest"] = "sha256:" + std::string(64, '0');
  std::ofstream(host.path("var/lib/slipway/generations/1.json")) << generation;
  const Ran ran = host.slipway({"rollback", "1", "--dry-run"});
  EXPECT_EQ(ran.code, 2) << ran.out << ran.err;
  EXPECT_THAT(ran.err, HasSubstr("guest 0.1.0 (another build of it is installed)"));
  EXPECT_THAT(host.slipway({"rollback", "1", "--dry-run", "--only", "probe"}).err, Not(HasSubstr("another build")));
}

// Before the fix, a rollback of the remaining components was impossible, even with --only.
TEST_F(OtherPlugin, ThatIsMissingAllowsARollbackOfTheOthers) {
  remove_guest_plugin();
  const Ran refused = host.slipway({"rollback", "1", "--yes"});
  EXPECT_EQ(refused.code, 1);
  EXPECT_THAT(refused.err, AllOf(HasSubstr("install guest 0.1.0, with which generation 1 was applied"),
                                 HasSubstr(" 1 --only probe`, which restores the others")));
  EXPECT_EQ(host.text("etc/probe.conf"), "two");
  const Ran some = host.slipway({"rollback", "1", "--only", "probe", "--yes"});
  EXPECT_EQ(some.code, 0) << some.out << some.err;
  EXPECT_EQ(host.text("etc/probe.conf"), "one");
  EXPECT_EQ(host.text("etc/guest"), "two");
}

}  // namespace
}  // namespace slipway
