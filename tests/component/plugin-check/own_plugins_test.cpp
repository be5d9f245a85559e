// SPDX-License-Identifier: Apache-2.0
// tests/component/plugin-check/own_plugins_test.cpp - slipway's own plugins pass the checks of `slipway plugin check`
// for third-party plugins.
#include <filesystem>
#include <regex>
#include <set>

#include "tests/component/engine/scratch_host.hpp"

namespace slipway {
namespace {

namespace fs = std::filesystem;
using slipway::testing::Ran;
using slipway::testing::ScratchHost;
using ::testing::HasSubstr;
using ::testing::Not;

/// A root with a kernel and containerd, as its package installs it.
void make_node(const ScratchHost& host) {
  fs::copy(SLIPWAY_TEST_NODE, host.path(""), fs::copy_options::recursive);
  for (const char* name : {"modules.order", "modules.builtin", "modules.builtin.modinfo"})
    host.put(std::string("usr/lib/modules/6.1.0-50-amd64/") + name, "");
  fs::create_symlink("usr/lib", host.path("lib"));
}

constexpr const char* kDriver =
    "    driver: {version: \"535.261.03\", modules: open, source: {repository: " SLIPWAY_TEST_PACKAGE
    ", trust: unsigned}}\n";
const std::string kBehindTheDriver = std::string(kDriver) + "    cdi: {}\n    runtime: {engines: [containerd]}\n";

/// Inputs that let the check cover all of a plugin.
struct Needs {
  const char* plugin;
  std::string sections;  ///< of the spec; empty: the manifest's defaults and examples
  std::string sim;       ///< empty: the check's own choice
  friend void PrintTo(const Needs& needs, std::ostream* out) { *out << needs.plugin; }
};

const Needs kOwn[] = {
    {"dcgm"},      {"deviceplugin"}, {"driver", kDriver},
    {"gfd"},       {"mig"},          {"toolkit", kBehindTheDriver, "h100x8,driver=535.261.03"},
    {"validator"},
};

class OwnPlugins : public ::testing::TestWithParam<Needs> {};

TEST_P(OwnPlugins, AreFitForUse) {
  const ScratchHost host;
  make_node(host);
  std::vector<std::string> words{"plugin", "check", std::string(SLIPWAY_TEST_PLUGINS "/") + GetParam().plugin + ".so",
                                 "--root", host.path("").string()};
  if (const std::string& sections = GetParam().sections; !sections.empty()) {
    host.spec(sections);
    words.insert(words.end(), {"-f", host.folder().at("host.yaml").string()});
  }
  if (!GetParam().sim.empty()) words.insert(words.end(), {"--sim", GetParam().sim});
  const Ran ran = host.slipway(words);
  EXPECT_EQ(ran.code, 0) << ran.out << ran.err;
  EXPECT_THAT(ran.out, HasSubstr("Nothing is wrong with the plugin"));
  EXPECT_THAT(ran.out, Not(HasSubstr(": 0 kinds")));
}

INSTANTIATE_TEST_SUITE_P(Each, OwnPlugins, ::testing::ValuesIn(kOwn),
                         [](const auto& each) { return std::string(each.param.plugin); });

TEST(OwnPluginsList, HasEveryPluginOfTheBuild) {
  std::set<std::string> built, listed;
  for (const auto& entry : fs::directory_iterator(SLIPWAY_TEST_PLUGINS))
    if (const fs::path& path = entry.path(); path.extension() == ".so" && path.stem().extension() != ".service")
      built.insert(path.stem().string());
  for (const Needs& needs : kOwn) listed.insert(needs.plugin);
  EXPECT_EQ(built, listed);
}

/// Checks a third-party plugin beside slipway's; it claims the driver's file.
Ran claim_the_drivers_file(const std::string& further) {
  ScratchHost host;
  make_node(host);
  host.plugins += ":" + fs::path(SLIPWAY_FAULTY).parent_path().string();
  host.spec("    faulty: {claims: /etc/modprobe.d/slipway-nvidia.conf}\n" + further);
  return host.slipway({"plugin", "check", SLIPWAY_FAULTY, "--root", host.path("").string(), "-f",
                       host.folder().at("host.yaml").string()});
}

// Before the fix, the check printed "Nothing is wrong with the plugin", and a host with the plugin lost its driver.
TEST(OwnPluginsCheck, FindsAForeignPluginThatClaimsAFileOfTheDriver) {
  const Ran ran = claim_the_drivers_file(kDriver);
  EXPECT_EQ(ran.code, 1) << ran.out << ran.err;
  const std::string text = std::regex_replace(ran.out, std::regex("\\s+"), " ");
  EXPECT_THAT(text, HasSubstr("faulty and driver both want file /etc/modprobe.d/slipway-nvidia.conf"));
  EXPECT_THAT(text, HasSubstr("/driver.so ("));
  EXPECT_THAT(text, HasSubstr("/faulty.so ("));
}

// Without packages the driver has no plan.
TEST(OwnPluginsCheck, WarnsOfAForeignPluginThatMayClaimAFileOfTheDriver) {
  const Ran ran = claim_the_drivers_file("");
  const std::string text = std::regex_replace(ran.out, std::regex("\\s+"), " ");
  EXPECT_THAT(text, HasSubstr("/driver.so contains /etc/modprobe.d/slipway-nvidia.conf, which your plugin claims"));
}

TEST(OwnPluginsCheck, ReportsThatItTriedNothing) {
  const ScratchHost host;
  const Ran ran = host.slipway({"plugin", "check", SLIPWAY_TEST_PLUGINS "/toolkit.so", "--sim", "h100x8"});
  EXPECT_EQ(ran.code, 1) << ran.out;
  EXPECT_THAT(ran.out, HasSubstr("runtime plans nothing for a fresh h100x8, so it is not tested"));
  EXPECT_THAT(ran.out, HasSubstr("--root DIR"));
  EXPECT_THAT(ran.out, Not(HasSubstr("Nothing is wrong with the plugin")));
}

TEST(OwnPluginsCheck, RefusesARootThatIsMissing) {
  const ScratchHost host;
  const Ran ran = host.slipway({"plugin", "check", SLIPWAY_TEST_PLUGINS "/gfd.so", "--root", "/nowhere/at/all"});
  EXPECT_EQ(ran.code, 1) << ran.out;
  EXPECT_THAT(ran.err, HasSubstr("/nowhere/at/all is not a folder"));
}

}  // namespace
}  // namespace slipway
