// SPDX-License-Identifier: Apache-2.0
#include "toolkit/cdi/component/component.hpp"

#include <algorithm>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <slipway/testing/fake_host.hpp>

#include "toolkit/cdi/component/machine.hpp"

namespace slipway::toolkit {
namespace {

using slipway::testing::FakeHost;
using ::testing::HasSubstr;

const std::string kContainer = "/run/nvidia/driver";
const std::string kLibrary = "/usr/lib/x86_64-linux-gnu/libcuda.so.1";

std::string roots_of(const FakeHost& host, const std::string& driver = "auto", const std::string& dev = "auto") {
  const DriverRoots roots = find_driver_roots(host, driver, dev);
  return roots.driver + " " + roots.dev;
}

TEST(DriverRoots, AreThoseOfTheHostsDriverElseOfADriverContainers) {
  FakeHost host;
  host.live("6.1.0-50-amd64");
  EXPECT_EQ(roots_of(host), "/ /");
  host.link(kContainer + kLibrary, "/usr/lib/nvidia/libcuda.so.1");  // valid inside the container only
  EXPECT_EQ(roots_of(host), kContainer + " /");
  host.file(kContainer + "/dev/nvidiactl", "");
  EXPECT_EQ(roots_of(host), kContainer + " " + kContainer);
  EXPECT_EQ(roots_of(host, "auto", "/"), kContainer + " /");
  host.file(kLibrary, "x");
  EXPECT_EQ(roots_of(host), "/ /");
  EXPECT_EQ(roots_of(host, "/opt/driver"), "/opt/driver /");
}

Spec section(const std::string& driver_root) { return Spec(Json{{"driver_root", driver_root}, {"char_links", true}}); }

Facts facts_of(const std::string& driver_root) {
  Facts facts;
  facts.set("specs", {{"/run/cdi/nvidia.com-gpu.yaml", "spec"}});
  facts.set("nodes", Json::array());
  facts.set("driver_root", driver_root);
  return facts;
}

/// Returns the number of specs, without the units that update them.
std::size_t specs_in(const Result<Plan>& plan) {
  return static_cast<std::size_t>(std::ranges::count_if(
      plan->actions(), [](const Action& action) { return action.target().starts_with("/run/cdi/"); }));
}

TEST(CdiPlan, WaitsForTheDriverThatTheComponentDriverInstalls) {
  const Inputs inputs(Json{{"outputs", {{"driver", {{"driver_root", "/"}}}}}});
  const auto early = Cdi().plan(section("auto"), facts_of(kContainer), inputs);
  ASSERT_FALSE(early.ok());
  EXPECT_EQ(early.error().code, ErrorCode::not_found) << "by which the core asks again later";
  EXPECT_THAT(early.error().what,
              HasSubstr("installs the driver below /, but the present driver is below " + kContainer));
  EXPECT_EQ(specs_in(Cdi().plan(section("auto"), facts_of("/"), inputs)), 1U);
  EXPECT_EQ(specs_in(Cdi().plan(section("auto"), facts_of(kContainer), Inputs())), 1U);
  EXPECT_EQ(specs_in(Cdi().plan(section(kContainer), facts_of(kContainer), inputs)), 1U) << "the spec says so";
}

TEST(CdiVerify, FindsNothingOnAMachineWithoutAGpu) {
  FakeHost host;
  host.live("6.1.0-50-amd64").file("/dev/nvidiactl", "");  // the module would be loaded needlessly
  const auto findings = Cdi().verify(section("auto"), host);
  ASSERT_TRUE(findings.ok()) << findings.error().what;
  ASSERT_EQ(findings->list().size(), 1U);
  EXPECT_EQ(findings->list()[0].status, Finding::Status::not_applicable);
  EXPECT_EQ(findings->list()[0].text, "no NVIDIA GPU on the PCI bus");
}

std::string text_of(const Plan& plan, const std::string& target) {
  for (const Action& action : plan.actions())
    if (action.target() == target || action.target().ends_with("/" + target)) return action.text("content");
  return "";
}

TEST(CdiPlan, HasTheUnitsThatUpdateTheSpecs) {
  Json keys{{"folder", "/run/my cdi"}, {"driver_root", "/"}, {"char_links", true}};
  Facts facts = facts_of("/");
  const auto plan = Cdi().plan(Spec(keys), facts, Inputs());
  ASSERT_TRUE(plan.ok());
  const std::string service = text_of(*plan, "slipway-cdi-refresh.service");
  EXPECT_THAT(service, HasSubstr("ExecStart=/usr/bin/slipway apply --boot --only cdi --wait=90s\n"));
  EXPECT_THAT(service, HasSubstr("ReadWritePaths=-\"/run/my cdi\" ")) << "a folder with a blank is one word";
  EXPECT_THAT(service, HasSubstr("ExecStartPre=-rm -rf /run/slipway/cdi-refresh\n"))
      << "before it looks, so that a request that comes meanwhile stays";
  EXPECT_EQ(service.find("Condition"), std::string::npos) << "it would leave the request, and be started for ever";
  const std::string path = text_of(*plan, "slipway-cdi-refresh.path");
  EXPECT_THAT(path, HasSubstr("PathExists=/run/slipway/cdi-refresh\n"));
  EXPECT_EQ(path.find("PathChanged=/dev\n"), std::string::npos) << "anybody who writes to /dev/null would start it";
  EXPECT_EQ(path.find("After="), std::string::npos) << "slipway-boot.service comes after all path units: a cycle";
  EXPECT_EQ((service + path).find("OnCalendar"), std::string::npos);
  EXPECT_THAT(text_of(*plan, "73-slipway-cdi-refresh.rules"), HasSubstr("SUBSYSTEM==\"module\", KERNEL==\"nvidia|"));
}

// Before the fix, with slipway in /opt, the units named /usr/bin/slipway, which did not exist, and the component failed
// at every boot.
TEST(CdiPlan, HasUnitsThatStartTheSlipwayOfThisRoot) {
  const Inputs inputs(Json{{"target", {{"slipway", "/opt/slip way/bin/slipway"}}}});
  Facts facts;
  facts.set("later", "this root shows no devices");
  const auto plan = Cdi().plan(section("auto"), facts, inputs);
  ASSERT_TRUE(plan.ok());
  EXPECT_THAT(text_of(*plan, "slipway-cdi-refresh.service"),
              HasSubstr("ExecStart=\"/opt/slip way/bin/slipway\" apply --boot --only cdi --wait=90s\n"));
  EXPECT_THAT(text_of(*plan, "slipway-cdi-refresh.path"),
              HasSubstr("ConditionFileIsExecutable=/opt/slip way/bin/slipway\n"));
}

// An image has no running driver, and its first boot may have none either.
TEST(CdiPlan, HasTheUnitsBeforeASpecCanBeMade) {
  Facts facts;
  facts.set("later", "this root shows no devices");
  const auto plan = Cdi().plan(section("auto"), facts, Inputs());
  ASSERT_TRUE(plan.ok());
  EXPECT_EQ(plan->actions().size(), 3U);
  EXPECT_NE(text_of(*plan, "slipway-cdi-refresh.path"), "");
}

// Before the fix, a live machine without a driver got no units: when a user loaded the driver later, no specs were
// written.
TEST(CdiPlan, HasTheUnitsOnALiveMachineWhoseDriverIsNotLoadedYet) {
  const Spec spec(Json{{"folder", "/run/cdi"},
                       {"modes", {"nvml"}},
                       {"vendor", "nvidia.com"},
                       {"driver_root", "auto"},
                       {"dev_root", "auto"},
                       {"char_links", true}});
  FakeHost host;
  host.live("6.1.0-50-amd64").hardware("assume");
  const auto facts = Cdi().detect(spec, host);
  ASSERT_TRUE(facts.ok());
  const auto plan = Cdi().plan(spec, *facts, Inputs());
  ASSERT_TRUE(plan.ok()) << plan.error().what;
  EXPECT_EQ(plan->actions().size(), 3U);
  ASSERT_EQ(plan->notes().size(), 1U);
  EXPECT_THAT(plan->notes().front(), HasSubstr("no NVIDIA driver runs on this machine"));
  const auto findings = Cdi().verify(spec, host);
  ASSERT_TRUE(findings.ok());
  EXPECT_EQ(findings->list().front().status, Finding::Status::warning);

  // The former specs remain while the new ones cannot be determined: an error of a plan changes nothing.
  host.file("/run/cdi/nvidia.com-gpu.yaml", "former\n");
  EXPECT_FALSE(Cdi().plan(spec, *Cdi().detect(spec, host), Inputs()).ok());
  host.file("/run/cdi/other.yaml", "x").module_loaded_now("nvidia");
  EXPECT_FALSE(Cdi().plan(spec, *Cdi().detect(spec, host), Inputs()).ok()) << "loaded, and NVML is missing";
}

}  // namespace
}  // namespace slipway::toolkit
