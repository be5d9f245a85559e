// SPDX-License-Identifier: Apache-2.0
// What stands in the units of services, and what does not.
#include "sandbox/unit/unit_text.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace slipway::core {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

std::string unit_with(const Json& needs, const Json& section = Json::object(),
                      const std::string& program = "/usr/bin/slipway") {
  return service_unit_text({"acme", "does it", program, false, needs, section});
}

TEST(UnitText, GivesAServiceThatDeclaresNothingNothing) {
  const std::string unit = unit_with(Json::object());
  for (const char* line :
       {"\nMemoryMax=256M\n", "\nTasksMax=64\n", "\nCapabilityBoundingSet=\n", "\nDevicePolicy=closed\n",
        "\nRestrictAddressFamilies=AF_UNIX\n", "\nPrivateNetwork=yes\n", "\nProtectHome=yes\n", "\nPrivateTmp=yes\n",
        "\nMemoryDenyWriteExecute=yes\n", "\nProtectSystem=strict\n", "\nReadWritePaths=-/run/slipway\n",
        "\nInaccessiblePaths=-/run/systemd/private -/run/dbus\n"})
    EXPECT_THAT(unit, HasSubstr(line));
  EXPECT_THAT(unit, Not(HasSubstr("DeviceAllow")));
}

TEST(UnitText, GivesAServiceWhatItDeclares) {
  const std::string unit = unit_with({{"memory", "1G"},
                                      {"tasks", 7},
                                      {"capabilities", {"CAP_SYS_ADMIN", "CAP_KILL"}},
                                      {"device_classes", {"acme*", "other"}},
                                      {"sockets", {"inet", "netlink"}},
                                      {"writes", {"/srv/a$x", "{folder}", "/run/slipway"}},
                                      {"shared_tmp", true},
                                      {"starts_units", true},
                                      {"writable_code", true}},
                                     {{"folder", "/srv/b c"}});
  for (const char* line :
       {"\nMemoryMax=1G\n", "\nTasksMax=7\n", "\nCapabilityBoundingSet=CAP_SYS_ADMIN CAP_KILL\n",
        "\nDeviceAllow=char-acme* rw\nDeviceAllow=char-other rw\n",
        "\nRestrictAddressFamilies=AF_UNIX AF_INET AF_INET6 AF_NETLINK\n", "\nReadWritePaths=/tmp /var/tmp\n",
        "\nExecStartPre=+mkdir -p -- /run/slipway /srv/a$$x \"/srv/b c\"\n",
        "\nReadWritePaths=-/run/slipway -/srv/a$x \"-/srv/b c\"\n"})
    EXPECT_THAT(unit, HasSubstr(line));
  for (const char* word : {"PrivateNetwork", "PrivateTmp", "MemoryDenyWriteExecute", "InaccessiblePaths"})
    EXPECT_THAT(unit, Not(HasSubstr(word)));
}

// A home folder that is not there at all has neither the program of a portable folder nor a file that the spec names.
TEST(UnitText, LeavesAHomeAndTmpThereForWhoHasFilesInThem) {
  EXPECT_THAT(unit_with({{"reads", {"{file}"}}}, {{"file", "/root/acme.yaml"}}),
              HasSubstr("\nProtectHome=read-only\n"));
  EXPECT_THAT(unit_with(Json::object(), Json::object(), "/home/me/slipway/bin/slipway"),
              HasSubstr("\nProtectHome=read-only\n"));
  EXPECT_THAT(unit_with({{"writes", {"/rooted/x"}}}), HasSubstr("\nProtectHome=yes\n"));
  EXPECT_THAT(unit_with(Json::object(), Json::object(), "/tmp/slipway/bin/slipway"), Not(HasSubstr("PrivateTmp")));
}

TEST(NeededPaths, AreTakenFromTheSection) {
  const Json section{{"output", "/srv/features/gfd"}, {"config", {{"flags", {{"root", "/mnt/x/"}}}}}, {"mode", "auto"}};
  EXPECT_THAT(needed_paths({"/a//b/./c"}, section), ElementsAre("/a/b/c"));
  EXPECT_THAT(needed_paths({"{output}/.. or /etc/features"}, section), ElementsAre("/srv/features"));
  EXPECT_THAT(needed_paths({"{config.flags.root}"}, section), ElementsAre("/mnt/x"));
  EXPECT_THAT(needed_paths({"{none}/.. or {config.flags.none} or /etc/features"}, section),
              ElementsAre("/etc/features"));
  EXPECT_THAT(needed_paths({"{none}", "{mode}", "{output", "{config.flags}", "/", 3}, section), IsEmpty());
  EXPECT_THAT(needed_paths(Json(), section), IsEmpty());
}

// A path of the spec that ends the line would write lines of its own into the unit.
TEST(UnitText, KeepsAPathInItsLine) {
  const std::string unit = unit_with({{"writes", {"{folder}"}}}, {{"folder", "/srv/x\nExecStartPre=/bin/evil"}});
  EXPECT_THAT(unit, Not(HasSubstr("\nExecStartPre=/bin/evil")));
  EXPECT_THAT(unit, HasSubstr("\"/srv/x\\nExecStartPre=/bin/evil\""));
}

TEST(UnitWord, KeepsOddPathsTogether) {
  EXPECT_EQ(unit_word("/opt/slipway/bin/slipway"), "/opt/slipway/bin/slipway");
  EXPECT_EQ(unit_word("/opt/50%/slipway"), "/opt/50%%/slipway");
  EXPECT_EQ(unit_word("/opt/my tools/slipway"), "\"/opt/my tools/slipway\"");
  EXPECT_EQ(unit_word("/opt/a\"b\\c"), "\"/opt/a\\\"b\\\\c\"");
}

TEST(UnitWhileInstalled, NamesTheProgramAsSystemdReadsConditions) {
  EXPECT_EQ(unit_while_installed("/usr/bin/slipway"), "ConditionFileIsExecutable=/usr/bin/slipway\n");
  EXPECT_EQ(unit_while_installed("/opt/my 50%/slipway"), "ConditionFileIsExecutable=/opt/my 50%%/slipway\n");
}

}  // namespace
}  // namespace slipway::core
