// SPDX-License-Identifier: Apache-2.0
// Other programs that report the GPUs: the kernel's tables, units and processes, and the plan for them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <slipway/testing/fake_host.hpp>

#include "dcgm/takeover/exporter_port.hpp"
#include "dcgm/takeover/other_exporters.hpp"

namespace slipway::dcgm {
namespace {

using slipway::testing::FakeHost;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

constexpr const char* kHead =
    "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode\n";

/// Returns a line of /proc/net/tcp. @param local  "0100007F:24B8", port 9400
std::string line(const std::string& local, const std::string& state, const std::string& uid, const std::string& inode) {
  return "   0: " + local + " 00000000:0000 " + state + " 00000000:00000000 00:00000000 00000000  " + uid +
         "        0 " + inode + " 1 0000000000000000 100 0 0 10 0\n";
}

/// Returns a live machine with a process that has that socket open.
FakeHost machine_with(const std::string& name, unsigned pid, const std::string& unit, const std::string& local) {
  FakeHost host;
  host.live("6.1.0");
  const std::string folder = "/proc/" + std::to_string(pid);
  host.file("/proc/net/tcp", kHead + line(local, "0A", "0", "4711"));
  host.file(folder + "/comm", name + "\n");
  host.file(folder + "/stat",
            std::to_string(pid) + " (" + name + ") S 1 1 1 0 -1 4194560 1 1 1 1 1 1 1 1 20 0 1 0 100 1 1");
  host.file(folder + "/cgroup", "0::/system.slice/" + unit + "\n");
  host.file(folder + "/cmdline", std::string("/usr/bin/") + name + '\0' + "-f" + '\0' + "/etc/a.csv" + '\0');
  host.link(folder + "/fd/3", "socket:[4711]");
  host.file("/usr/lib/systemd/system/" + unit, "[Service]\nExecStart=/usr/bin/" + name + "\n");
  return host;
}

constexpr const char* kAll = "00000000:24B8";

TakeoverSettings settings(bool takes_over = false) {
  return {.address = "127.0.0.1", .port = 9400, .takes_over = takes_over};
}

std::string plan_text(const Host& host, const TakeoverSettings& how) {
  Facts facts;
  add_facts(host, how, facts);
  Plan plan;
  add_takeover(how, facts, plan);
  std::string text;
  for (const Action& action : plan.actions()) text += action.json().dump() + "\n";
  for (const std::string& note : plan.notes()) text += note + "\n";
  return text;
}

TEST(DcgmListeners, AreThoseOfThePortThatListen) {
  const std::string table = std::string(kHead) + line("0100007F:24B8", "0A", "112", "5") +
                            line("0100007F:24B8", "01", "112", "6") + line("00000000:24B9", "0A", "0", "7");
  const auto found = listeners(table, 9400);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].address, "127.0.0.1");
  EXPECT_EQ(found[0].uid, 112U);
  EXPECT_EQ(found[0].inode, 5U);
  const auto six = listeners(line("00000000000000000000000001000000:24B8", "0A", "0", "8"), 9400);
  ASSERT_EQ(six.size(), 1U);
  EXPECT_EQ(six[0].address, "::1");
  for (const char* broken :
       {"", "\n", "0: x", "  0: 0100007F 0 0A", "1 2 0A 4 5 6 7 8 9 10", "0: 01:24B8 0 0A 0 0 0 0 0 1"})
    EXPECT_THAT(listeners(broken, 9400), IsEmpty()) << broken;
}

TEST(DcgmPort, IsHeldByAListenerOnItsAddressOrOnAllAddresses) {
  const FakeHost all = machine_with("dcgm-exporter", 812, "dcgm-exporter.service", kAll);
  const auto holder = port_holder(all, "127.0.0.1", 9400);
  ASSERT_TRUE(holder);
  EXPECT_FALSE(holder->own);
  EXPECT_THAT(to_text(*holder), HasSubstr("dcgm-exporter (pid 812, dcgm-exporter.service"));
  EXPECT_THAT(to_text(*holder), HasSubstr("): /usr/bin/dcgm-exporter -f /etc/a.csv"));
  EXPECT_FALSE(port_holder(all, "127.0.0.1", 9401));
  const FakeHost other = machine_with("nginx", 5, "nginx.service", "0200000A:24B8");  // 10.0.0.2
  EXPECT_FALSE(port_holder(other, "127.0.0.1", 9400)) << "another address is no obstacle";
  EXPECT_TRUE(port_holder(other, "::", 9400));
  EXPECT_FALSE(port_holder(FakeHost(), "::", 9400)) << "there is no kernel to ask";
}

TEST(DcgmPort, NamesAUnitThatIsAtWorkWhereTheProcessIsHidden) {
  FakeHost host = machine_with("dcgm-exporter", 812, "dcgm-exporter.service", kAll);
  host.without("/proc/812");
  EXPECT_THAT(to_text(*port_holder(host, "::", 9400)), HasSubstr("a program of user 0 at 0.0.0.0"));
  host.file("/sys/fs/cgroup/system.slice/dcgm-exporter.service/cgroup.procs", "812\n");
  EXPECT_THAT(to_text(*port_holder(host, "::", 9400)), HasSubstr("dcgm-exporter.service is active"));
}

TEST(DcgmTakeover, StopsTheUnitOfAnExporterWhenItIsRequested) {
  const FakeHost host = machine_with("dcgm-exporter", 812, "dcgm-exporter.service", kAll);
  const std::string takeover = plan_text(host, settings(true));
  EXPECT_THAT(takeover,
              HasSubstr(R"("kind":"systemd-unit","started":false,"stopped":true,"target":"dcgm-exporter.service")"));
  EXPECT_THAT(takeover, Not(HasSubstr("is taken by")));
  const std::string yield = plan_text(host, settings(false));
  EXPECT_THAT(yield, Not(HasSubstr("systemd-unit")));
  EXPECT_THAT(yield, HasSubstr("port 9400 is taken by dcgm-exporter (pid 812, dcgm-exporter.service"));
  EXPECT_THAT(yield, HasSubstr("`existing_exporter: takeover` stops and disables dcgm-exporter.service"));
}

TEST(DcgmTakeover, LeavesAProcessWithoutAUnitAndSaysSo) {
  FakeHost host = machine_with("dcgm-exporter", 812, "dcgm-exporter.service", kAll);
  host.file("/proc/812/cgroup", "0::/user.slice/session-1.scope\n");
  EXPECT_THAT(plan_text(host, settings(true)), HasSubstr("end it where it was started"));
}

// Before the fix, a user could hide that his process has the port by words in its own command line.
TEST(DcgmTakeover, IdentifiesAnExporterByItsUnit) {
  using namespace std::string_literals;
  FakeHost host = machine_with("dcgm-exporter", 812, "dcgm-exporter.service", kAll);
  host.file("/proc/812/cgroup", "0::/user.slice/session-1.scope\n");
  host.file("/proc/812/cmdline", "squatter\0x, dcgm-exporter.service\0"s);
  const std::string takeover = plan_text(host, settings(true));
  EXPECT_THAT(takeover, HasSubstr("port 9400 is taken by"));
  EXPECT_THAT(takeover, HasSubstr("end it where it was started"));
}

TEST(DcgmTakeover, StaysTheSameAfterTheUnitWasStopped) {
  FakeHost host = machine_with("dcgm-exporter", 812, "dcgm-exporter.service", kAll);
  const std::string before = plan_text(host, settings(true));
  host.without("/proc/812").file("/proc/net/tcp", kHead);
  EXPECT_EQ(plan_text(host, settings(true)), before);
}

// An alias is a link to the unit, and stopping both would repeat the same action.
TEST(DcgmTakeover, KnowsAUnitByItsOwnNameAlone) {
  FakeHost host;
  host.file("/usr/lib/systemd/system/nvidia-dcgm.service", "[Service]\n");
  host.link("/etc/systemd/system/dcgm.service", "/usr/lib/systemd/system/nvidia-dcgm.service");
  EXPECT_THAT(installed_units(host, Role::engine), ::testing::ElementsAre("nvidia-dcgm.service"));
  TakeoverSettings how = settings(true);
  EXPECT_THAT(plan_text(host, how), Not(HasSubstr("nvidia-dcgm"))) << "it is left where no engine is to be managed";
  how.engine = "managed";
  EXPECT_THAT(plan_text(host, how), HasSubstr("nvidia-dcgm.service"));
}

TEST(DcgmTakeover, NamesARunningHostEngine) {
  const FakeHost host = machine_with("nv-hostengine", 90, "nvidia-dcgm.service", "0100007F:15B3");
  EXPECT_THAT(plan_text(host, settings()),
              HasSubstr("keeps the driver in use: nv-hostengine (pid 90, nvidia-dcgm.service"));
  Findings findings;
  add_findings(host, settings(), findings);
  ASSERT_EQ(findings.list().size(), 1U);
  EXPECT_EQ(findings.list()[0].name, "dcgm.engine");
  EXPECT_TRUE(findings.passed()) << "a warning";
}

TEST(DcgmVerify, NamesTheProcessThatHasThePort) {
  const FakeHost host = machine_with("nginx", 5, "nginx.service", kAll);
  Findings findings;
  add_findings(host, settings(), findings);
  ASSERT_EQ(findings.list().size(), 1U);
  EXPECT_THAT(findings.list()[0].text, HasSubstr("port 9400 is taken by nginx (pid 5, nginx.service"));
  EXPECT_THAT(findings.list()[0].remedy, HasSubstr("another port"));
}

TEST(DcgmSocketUnit, ListensWhereTheServiceWould) {
  const auto text = [](const char* address) { return socket_unit_text({.address = address, .port = 9400}); };
  EXPECT_THAT(text("127.0.0.1"), HasSubstr("\nListenStream=127.0.0.1:9400\n"));
  EXPECT_THAT(text("::1"), HasSubstr("\nListenStream=[::1]:9400\n"));
  EXPECT_THAT(text("::"), HasSubstr("\nListenStream=[::]:9400\nBindIPv6Only=both\n"));
}

}  // namespace
}  // namespace slipway::dcgm
