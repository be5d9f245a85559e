// SPDX-License-Identifier: Apache-2.0
// The contents of the units of services.
#include "sandbox/unit/unit_text.hpp"

#include <fstream>
#include <iterator>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/units/unit_text.hpp"

namespace slipway::sandbox {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

std::string unit_with(const Json& needs, const Json& section = Json::object(),
                      const std::string& program = "/usr/bin/slipway") {
  return service_unit_text({"acme", "does it", program, false, needs, section});
}

TEST(UnitText, GivesNoAccessWithoutDeclaredNeeds) {
  const std::string unit = unit_with(Json::object());
  for (const char* line :
       {"\nMemoryMax=256M\n", "\nTasksMax=64\n", "\nCapabilityBoundingSet=\n", "\nDevicePolicy=closed\n",
        "\nRestrictAddressFamilies=AF_UNIX\n", "\nPrivateNetwork=yes\n", "\nProtectHome=yes\n", "\nPrivateTmp=yes\n",
        "\nMemoryDenyWriteExecute=yes\n", "\nProtectSystem=strict\n", "\nSystemCallFilter=@system-service\n",
        "\nReadWritePaths=-/run/slipway\n", "\nInaccessiblePaths=-/run/systemd/private -/run/dbus\n"})
    EXPECT_THAT(unit, HasSubstr(line));
  EXPECT_THAT(unit, Not(HasSubstr("DeviceAllow")));
}

TEST(Restrictions, AreAllThatAUnitCanHave) {
  const std::string all = base::restriction_lines({});
  EXPECT_THAT(all, AllOf(HasSubstr("NoNewPrivileges=yes\n"), HasSubstr("ProtectKernelLogs=yes\n")));
  EXPECT_EQ(base::restrictions({"ProtectKernelLogs", "UMask"}).size() + 2, base::restrictions({}).size());
  EXPECT_THAT(base::restriction_lines({"ProtectKernelLogs"}), Not(HasSubstr("ProtectKernelLogs")));
  EXPECT_THAT(unit_with(Json::object()), HasSubstr("\n" + all));
}

/// Returns a unit that comes with slipway, without its first line, which is its licence.
std::string packaged(const std::string& unit) {
  std::ifstream in(SLIPWAY_PACKAGED_UNITS "/" + unit + ".in");
  std::string text{std::istreambuf_iterator<char>(in), {}};
  text.erase(0, text.find('\n') + 1);
  const std::string folder = "@CMAKE_INSTALL_FULL_BINDIR@";
  for (std::size_t at = 0; (at = text.find(folder)) != std::string::npos;) text.replace(at, folder.size(), "/usr/bin");
  return text;
}

// An apply writes the same units again, with their dependencies.
TEST(UnitText, OfThePackageIsThatOfABootBeforeTheFirstApply) {
  EXPECT_EQ(packaged("slipway-ready.target"), ready_target_text());
  EXPECT_EQ(packaged("slipway-verify.service"), verify_unit_text("/usr/bin/slipway", {}, true));
  EXPECT_THAT(verify_unit_text("/usr/bin/slipway", {}, true),
              AllOf(HasSubstr(" slipway-apply.service\n"), HasSubstr("\nTimeoutStartSec=infinity\n")));
  EXPECT_THAT(verify_unit_text("/usr/bin/slipway", {}), Not(HasSubstr("slipway-apply.service")));
}

TEST(UnitText, ComesBeforeTheUnitsThatWaitForTheService) {
  ServiceUnit unit{"acme", "does it", "/usr/bin/slipway", false, Json::object(), Json::object()};
  EXPECT_THAT(service_unit_text(unit), Not(HasSubstr("Before=")));
  unit.before = {"kubelet.service", "k3s.service"};
  EXPECT_THAT(service_unit_text(unit), HasSubstr("\nBefore=kubelet.service k3s.service\n"));
}

TEST(UnitText, GivesAServiceItsDeclaredAccess) {
  const std::string unit = unit_with({{"memory", "1G"},
                                      {"tasks", 7},
                                      {"capabilities", {"CAP_SYS_ADMIN", "CAP_KILL"}},
                                      {"device_classes", {"acme*", "other"}},
                                      {"sockets", {"inet", "netlink"}},
                                      {"system_calls", {"@mount", "bpf"}},
                                      {"writes", {"/srv/a$x", "{folder}", "/run/slipway"}},
                                      {"shared_tmp", true},
                                      {"starts_units", true},
                                      {"writable_code", true}},
                                     {{"folder", "/srv/b c"}});
  for (const char* line : {"\nMemoryMax=1G\n", "\nTasksMax=7\n", "\nCapabilityBoundingSet=CAP_SYS_ADMIN CAP_KILL\n",
                           "\nDeviceAllow=char-acme* rw\nDeviceAllow=char-other rw\n",
                           "\nRestrictAddressFamilies=AF_UNIX AF_INET AF_INET6 AF_NETLINK\n",
                           "\nReadWritePaths=-/tmp -/var/tmp\n", "\nSystemCallFilter=@system-service @mount bpf\n",
                           "\nExecStartPre=-+mkdir -p -- /run/slipway /srv/a$$x \"/srv/b c\"\n",
                           "\nReadWritePaths=-/run/slipway -/srv/a$x \"-/srv/b c\"\n"})
    EXPECT_THAT(unit, HasSubstr(line));
  for (const char* word : {"PrivateNetwork", "PrivateTmp", "MemoryDenyWriteExecute", "InaccessiblePaths"})
    EXPECT_THAT(unit, Not(HasSubstr(word)));
}

// An empty home folder has neither the program of a portable folder nor a file that the spec names.
TEST(UnitText, KeepsHomeAndTmpForFilesInThem) {
  EXPECT_THAT(unit_with({{"reads", {"{file}"}}}, {{"file", "/root/acme.yaml"}}),
              HasSubstr("\nProtectHome=read-only\n"));
  EXPECT_THAT(unit_with(Json::object(), Json::object(), "/home/me/slipway/bin/slipway"),
              HasSubstr("\nProtectHome=read-only\n"));
  EXPECT_THAT(unit_with({{"writes", {"/rooted/x"}}}), HasSubstr("\nProtectHome=yes\n"));
  const std::string in_tmp =
      unit_with({{"reads", {"{file}"}}}, {{"file", "/tmp/acme.yaml"}}, "/tmp/slipway/bin/slipway");
  EXPECT_THAT(in_tmp, Not(HasSubstr("PrivateTmp")));
  EXPECT_THAT(in_tmp, Not(HasSubstr("ReadWritePaths=-/tmp"))) << "it reads there, and writes nothing";
}

// Before the fix, with a control socket in /tmp, all of both folders became writable.
TEST(UnitText, GivesOnlyTheFolderThatIsWrittenInTmp) {
  const std::string unit = unit_with({{"writes", {"/tmp/acme"}}});
  EXPECT_THAT(unit, HasSubstr("\nReadWritePaths=-/run/slipway -/tmp/acme\n"));
  EXPECT_THAT(unit, Not(HasSubstr("/var/tmp")));
  EXPECT_THAT(unit, Not(HasSubstr("PrivateTmp")));
}

TEST(UnitText, LimitsAnApplyAtBootAsWell) {
  const std::string unit = boot_unit_text("/usr/bin/slipway", "");
  for (const char* line : {"\nMemoryMax=90%\n", "\nTasksMax=16384\n", "\nNoNewPrivileges=yes\n"})
    EXPECT_THAT(unit, HasSubstr(line));
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

// A path of the spec that ends the line would write lines of its own into the unit; systemd also ends a line at \r.
TEST(UnitText, KeepsAPathInItsLine) {
  for (const std::string end : {"\n", "\r", "\r\n"}) {
    const std::string unit =
        unit_with({{"writes", {"{folder}"}}}, {{"folder", "/srv/x" + end + "ExecStartPre=/bin/evil"}});
    EXPECT_THAT(unit, Not(HasSubstr(end + "ExecStartPre=/bin/evil")));
    EXPECT_THAT(unit, Not(HasSubstr("\r")));
  }
  EXPECT_THAT(unit_with({{"writes", {"{folder}"}}}, {{"folder", "/srv/x\rY=1"}}), HasSubstr("\"/srv/x\\x0dY=1\""));
}

TEST(UnitText, KeepsThePurposeInItsLine) {
  const std::string unit =
      service_unit_text({"acme", "does\nUser=evil\r50% \\", "/usr/bin/slipway", false, Json::object(), Json::object()});
  EXPECT_THAT(unit, HasSubstr("\nDescription=slipway: acme, does User=evil 50%%  \nAfter="));
}

TEST(PlainPaths, AreThoseThatAUnitCanName) {
  const Json needs{{"writes", {"{folder}/x or {config.file}"}}, {"reads", {"{other}"}}};
  EXPECT_TRUE(expect_plain_paths("acme", needs, {{"folder", "/srv/a b"}, {"third", "/srv/\n"}}));
  const Status broken = expect_plain_paths("acme", needs, {{"config", {{"file", "/srv/\rX=1"}}}});
  ASSERT_FALSE(broken);
  EXPECT_EQ(broken.error().where, "spec.components.acme.config.file");
  EXPECT_FALSE(expect_plain_paths("acme", needs, {{"other", "/srv/\x7f"}}));
  EXPECT_TRUE(expect_plain_paths("acme", needs, {{"other", "auto"}}));
  const Status relative = expect_plain_paths("acme", needs, {{"config", {{"file", "srv/x"}}}});
  ASSERT_FALSE(relative) << "the service could not write there";
  EXPECT_EQ(relative.error().where, "spec.components.acme.config.file");
}

TEST(UnitWord, KeepsOddPathsTogether) {
  EXPECT_EQ(base::unit_word("/opt/slipway/bin/slipway"), "/opt/slipway/bin/slipway");
  EXPECT_EQ(base::unit_word("/opt/50%/slipway"), "/opt/50%%/slipway");
  EXPECT_EQ(base::unit_word("/opt/my tools/slipway"), "\"/opt/my tools/slipway\"");
  EXPECT_EQ(base::unit_word("/opt/a\"b\\c"), "\"/opt/a\\\"b\\\\c\"");
  EXPECT_EQ(base::unit_word("/opt/a\tb\x1b"), "\"/opt/a\\x09b\\x1b\"");
}

TEST(UnitWhileInstalled, NamesTheProgramAsSystemdReadsConditions) {
  EXPECT_EQ(base::unit_while_installed("/usr/bin/slipway"), "ConditionFileIsExecutable=/usr/bin/slipway\n");
  EXPECT_EQ(base::unit_while_installed("/opt/my 50%/slipway"), "ConditionFileIsExecutable=/opt/my 50%%/slipway\n");
}

}  // namespace
}  // namespace slipway::sandbox
