// SPDX-License-Identifier: Apache-2.0
// `slipway plugin check` beside other plugins. Before the fix, the check printed "Nothing is wrong with the plugin"
// about a plugin that claimed a file of another one, and a host that got both lost both components.
#include "tests/component/plugin-check/check_report.hpp"

namespace slipway {
namespace {

using slipway::testing::check_spec;
using slipway::testing::CheckReport;
using ::testing::AllOf;
using ::testing::HasSubstr;

const std::string kBoth = std::string(SLIPWAY_TEST_PLUGINS) + ":" + SLIPWAY_NEIGHBOUR_PLUGINS;

CheckReport beside(const std::string& claims) { return check_spec("    faulty: {claims: " + claims + "}\n", kBoth); }

TEST(PluginCheckBeside, NamesAFileThatAnotherPluginClaimsAndBothPlugins) {
  const CheckReport report = beside("/etc/neighbour.conf");
  EXPECT_EQ(report.code, 1);
  ASSERT_TRUE(report.failed.contains("plugin.beside")) << ::testing::PrintToString(report.failed);
  EXPECT_THAT(report.failed.at("plugin.beside"),
              AllOf(HasSubstr("faulty and neighbour both want file /etc/neighbour.conf"), HasSubstr("/faulty.so ("),
                    HasSubstr("/neighbour.so ("), HasSubstr("choose another name for yours")));
}

TEST(PluginCheckBeside, NamesAUnitThatAnotherPluginClaims) {
  const CheckReport report = beside("neighbour.service");
  EXPECT_EQ(report.code, 1);
  EXPECT_THAT(report.failed.at("plugin.beside"), HasSubstr("neighbour.service"));
}

TEST(PluginCheckBeside, FindsAFileBelowAnotherComponentsFile) {
  EXPECT_THAT(beside("/etc/neighbour.conf/below").failed.at("plugin.beside"), HasSubstr("/etc/neighbour.conf"));
}

TEST(PluginCheckBeside, PassesWithoutAClashAndNamesUnplannedComponents) {
  const CheckReport report = beside("/etc/of/its/own");
  EXPECT_EQ(report.code, 0) << ::testing::PrintToString(report.failed);
  EXPECT_THAT(report.passed.at("plugin.beside"), HasSubstr("no file, unit or key of this plugin is also claimed by "));
  EXPECT_THAT(report.not_exercised.at("plugin.beside"), HasSubstr("supplied (it needs packages)"));
}

// There is no plan without packages: only the paths in the plugin's file are known.
TEST(PluginCheckBeside, WarnsOfAPathInAnUnplannedPlugin) {
  const CheckReport report = beside("/etc/supplied/with/a/name/of/its/own.conf");
  EXPECT_EQ(report.code, 0);
  EXPECT_THAT(report.warned.at("plugin.beside"),
              AllOf(HasSubstr("/neighbour.so contains /etc/supplied/with/a/name/of/its/own.conf"),
                    HasSubstr("supplied could not be planned here"), HasSubstr("-f FILE")));
}

TEST(PluginCheckBeside, RefusesADuplicateComponent) {
  const testing::TempDir folder;
  std::filesystem::copy_file(SLIPWAY_FAULTY, folder.at("renamed.so"));
  const CheckReport report = check_spec("", folder.string(), true);
  EXPECT_EQ(report.code, 1);
  EXPECT_THAT(report.failed.at("plugin.beside"),
              AllOf(HasSubstr("the component faulty is in "), HasSubstr("/renamed.so, which is installed")));
}

// A new version has the name of the file that it replaces.
TEST(PluginCheckBeside, AllowsAnEarlierVersionOfItself) {
  const testing::TempDir folder;
  std::filesystem::copy_file(SLIPWAY_FAULTY, folder.at("faulty.so"));
  const CheckReport report = check_spec("", folder.string(), true);
  EXPECT_EQ(report.code, 0) << ::testing::PrintToString(report.failed);
}

}  // namespace
}  // namespace slipway
