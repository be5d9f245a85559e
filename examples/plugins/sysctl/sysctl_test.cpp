// SPDX-License-Identifier: Apache-2.0
#include "sysctl.cpp"  // the whole plugin

#include <gtest/gtest.h>

#include <slipway/testing/failing_host.hpp>
#include <slipway/testing/fake_host.hpp>
#include <slipway/testing/summary.hpp>

namespace {

using slipway::testing::FailingHost;
using slipway::testing::FakeHost;
using slipway::testing::summary;

Spec spec(Json section) {
  const Json defaults{
      {"preset", "none"}, {"values", Json::object()}, {"modules", Json::array()}, {"transparent_hugepages", "keep"}};
  for (const auto& [key, value] : defaults.items())
    if (!section.contains(key)) section[key] = value;
  return Spec(std::move(section));
}

Result<Plan> plan_for(const Spec& desired, const Host& host) {
  SLIPWAY_TRY(facts, Sysctl().detect(desired, host));
  return Sysctl().plan(desired, facts, Inputs());
}

FakeHost running_node() {
  FakeHost host;
  host.live("6.1.0-50-amd64").file("/proc/sys/vm/max_map_count", "65530\n");
  host.file("/proc/sys/net/ipv4/tcp_rmem", "4096\t87380\t134217728\n");
  host.file("/sys/kernel/mm/transparent_hugepage/enabled", "always [madvise] never\n");
  return host;
}

TEST(SysctlPlan, WritesTheParametersInOrderAndLetsThemTakeEffect) {
  const FakeHost host;
  const Result<Plan> plan =
      plan_for(spec({{"values", {{"vm.swappiness", "1"}, {"net.core.somaxconn", "4096"}}}}), host);
  ASSERT_TRUE(plan.ok());
  EXPECT_EQ(summary(*plan), "file /etc/sysctl.d/60-slipway.conf\n");
  const Action& file = plan->actions().front();
  EXPECT_NE(file.text("content").find("\nnet.core.somaxconn = 4096\nvm.swappiness = 1\n"), std::string::npos);
  EXPECT_EQ(file.value("triggers"), Json({"restart:systemd-sysctl.service"}));
}

TEST(SysctlPlan, LetsTheSpecWinOverThePreset) {
  const FakeHost host;
  const Result<Plan> plan = plan_for(spec({{"preset", "gpu"}, {"values", {{"vm.max_map_count", "262144"}}}}), host);
  const std::string content = plan->actions().front().text("content");
  EXPECT_NE(content.find("vm.max_map_count = 262144\n"), std::string::npos);
  EXPECT_EQ(content.find("1048576"), std::string::npos);
  EXPECT_NE(content.find("kernel.numa_balancing = 0\n"), std::string::npos);
}

TEST(SysctlPlan, LoadsModulesNowAndAtBoot) {
  const FakeHost host;
  const Result<Plan> plan = plan_for(spec({{"modules", {"ib_umad", "rdma_ucm"}}}), host);
  EXPECT_EQ(summary(*plan),
            "kernel-module ib_umad\nkernel-module rdma_ucm\nfile /etc/modules-load.d/slipway-sysctl.conf\n");
  EXPECT_EQ(plan->actions().back().text("content"), "ib_umad\nrdma_ucm\n");
}

TEST(SysctlPlan, SetsThePolicyForHugePagesByAUnit) {
  const FakeHost host;
  const Result<Plan> plan = plan_for(spec({{"transparent_hugepages", "madvise"}}), host);
  EXPECT_EQ(summary(*plan), "systemd-unit slipway-hugepages.service\n");
  EXPECT_NE(plan->actions().front().text("content").find("echo madvise > /sys/kernel"), std::string::npos);
}

TEST(SysctlPlan, IsEmptyWithoutARequest) { EXPECT_EQ(summary(*plan_for(spec({}), FakeHost())), ""); }

TEST(SysctlPlan, WarnsOfParametersThatTheKernelLacks) {
  const FakeHost host = running_node();
  const Spec desired = spec({{"values", {{"vm.max_map_count", "262144"}, {"kernel.hung_gpu", "1"}}}});
  const Result<Plan> plan = plan_for(desired, host);
  ASSERT_EQ(plan->notes().size(), 1U);
  EXPECT_NE(plan->notes()[0].find("kernel.hung_gpu"), std::string::npos);
  EXPECT_TRUE(plan_for(desired, FakeHost())->notes().empty());
}

TEST(SysctlPlan, RefusesValuesThatTheFileCannotHold) {
  for (const char* name : {"no-dots", "../etc.passwd", "vm.x = 1\nkernel.y", ".vm", "-vm.swappiness"})
    EXPECT_EQ(plan_for(spec({{"values", {{name, "1"}}}}), FakeHost()).error().code, ErrorCode::invalid) << name;
  EXPECT_EQ(plan_for(spec({{"values", {{"vm.swappiness", "1\nkernel.panic = 1"}}}}), FakeHost()).error().code,
            ErrorCode::invalid);
}

TEST(SysctlVerify, ComparesWithTheKernelsValues) {
  const FakeHost host = running_node();
  const Spec desired =
      spec({{"values",
             {{"net.ipv4.tcp_rmem", "4096 87380 134217728"}, {"vm.max_map_count", "262144"}, {"kernel.hung_gpu", "1"}}},
            {"modules", {"ib_umad"}},
            {"transparent_hugepages", "madvise"}});
  const Result<Findings> findings = Sysctl().verify(desired, host);
  ASSERT_TRUE(findings.ok());
  std::string seen;
  for (const Finding& finding : findings->list())
    seen += finding.name + " " + std::string(to_string(finding.status)) + "\n";
  EXPECT_EQ(seen,
            "sysctl.kernel.hung_gpu not-applicable\nsysctl.net.ipv4.tcp_rmem pass\nsysctl.vm.max_map_count fail\n"
            "sysctl.module.ib_umad fail\nsysctl.hugepages pass\n");
}

TEST(SysctlVerify, ExercisesNothingInAnOfflineRoot) {
  const Spec desired = spec({{"preset", "rdma"}, {"modules", {"ib_umad"}}, {"transparent_hugepages", "never"}});
  const auto findings = Sysctl().verify(desired, FakeHost());
  ASSERT_EQ(findings->list().size(), 9U);
  for (const Finding& finding : findings->list())
    EXPECT_EQ(finding.status, Finding::Status::not_exercised) << finding.name;
}

// A simulated machine shows a kernel, but no module is loaded and no parameter is set before its boot.
TEST(SysctlVerify, ExpectsNothingOfASimulatedMachine) {
  FakeHost host;
  host.file("/proc/sys/vm/max_map_count", "65530\n");
  const Spec desired = spec({{"values", {{"vm.max_map_count", "262144"}}}, {"modules", {"ib_umad"}}});
  ASSERT_TRUE(host.has_kernel_view());
  const auto findings = Sysctl().verify(desired, host);
  ASSERT_EQ(findings->list().size(), 2U);
  for (const Finding& finding : findings->list())
    EXPECT_EQ(finding.status, Finding::Status::not_exercised) << finding.name;
}

// A fault of the machine may cost a finding; it must neither throw nor become a passed check.
TEST(SysctlVerify, DoesNotPassUnreadableValues) {
  const FakeHost machine = running_node();
  const Spec desired = spec({{"values", {{"vm.max_map_count", "65530"}}}});
  const FailingHost counting(machine);
  ASSERT_TRUE(Sysctl().verify(desired, counting)->list().front().status == Finding::Status::pass);
  for (unsigned nth = 1; nth <= counting.calls(); ++nth) {
    const FailingHost host = FailingHost(machine).fail(nth);
    EXPECT_NE(Sysctl().verify(desired, host)->list().front().status, Finding::Status::pass) << nth;
  }
}

}  // namespace
