// SPDX-License-Identifier: Apache-2.0
// The plan reports mistakes in the config, before the apply that installs the driver begins.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <slipway/testing/fake_host.hpp>

#include "deviceplugin/component.hpp"
#include "deviceplugin/offer_check.hpp"
#include "machines.hpp"

namespace slipway::deviceplugin {
namespace {

using slipway::testing::FakeHost;
using ::testing::HasSubstr;
using testing::settings_of;

/// A machine with two H100 and no driver yet.
FakeHost bare_host() {
  FakeHost host;
  host.live("6.1.0-50-amd64");
  for (int i = 0; i < 2; ++i)
    host.pci(
        {.address = fmt::format("0000:{}8:00.0", i + 1), .vendor = 0x10de, .device = 0x2330, .device_class = 0x030200});
  return host;
}

std::string problem_of(const std::string& sharing, const FakeHost& host) {
  const auto settings = settings_of("version: v1\n" + sharing);
  EXPECT_TRUE(settings) << (settings ? "" : to_text(settings.error()));
  const OfferCheck check = check_offer(*settings, "/", host);
  if (!check.problem) return {};
  EXPECT_EQ(check.problem->code, ErrorCode::invalid) << "others may wait for what is missing";
  return check.problem->what;
}

TEST(ConfigMistakes, AboutGpusOfTheMachineAreFoundWithoutADriver) {
  const FakeHost host = bare_host();
  const auto time_slicing = [](const std::string& entry) {
    return "sharing: {timeSlicing: {resources: [{name: nvidia.com/gpu, " + entry + "}]}}\n";
  };
  EXPECT_EQ(problem_of(time_slicing("replicas: 4"), host), "");
  EXPECT_EQ(problem_of(time_slicing("replicas: 4, devices: [\"1\"]"), host), "");
  EXPECT_EQ(problem_of(time_slicing("replicas: 4, devices: [GPU-5c1b0a9e-1111-2222-3333-444455556666]"), host), "");
  EXPECT_THAT(problem_of(time_slicing("replicas: 4, devices: [\"2\"]"), host),
              HasSubstr("nvidia.com/gpu has no device 2"));
  EXPECT_THAT(problem_of(time_slicing("replicas: 4, devices: 3"), host),
              HasSubstr("sharing 3 devices of nvidia.com/gpu, which has 2"));
  EXPECT_THAT(problem_of("sharing: {mps: {resources: [{name: nvidia.com/gpu, replicas: 60}]}}\n", host),
              HasSubstr("takes at most 48 MPS clients, not 60"));
  EXPECT_EQ(problem_of("flags: {migStrategy: mixed}\n" + time_slicing("replicas: 4, devices: [\"2\"]"), host), "")
      << "what MIG devices there will be nobody knows";
}

// Before the fix, a missing config was reported as "deferred: planned once driver is done", although the driver was
// installed.
TEST(ConfigMistakes, OfAMissingFileOrConfigWaitForNoOtherComponent) {
  const DevicePlugin component;
  FakeHost host = bare_host();
  host.file("/etc/configs.yaml", "kind: ConfigMap\ndata: {a: 'version: v1', b: 'version: v1'}\n");
  const Json base{{"kubelet_root", "/var/lib/kubelet"}, {"driver_root", "/"}, {"cdi_vendor", "nvidia.com"}};
  for (const auto& [more, what] :
       {std::pair{Json{{"config_file", "/etc/dp.yaml"}}, "/etc/dp.yaml"},
        {Json{{"config_file", "/etc/configs.yaml"}}, "there are several configs (a, b)"},
        {Json{{"config_file", "/etc/configs.yaml"}, {"config_name", "c"}}, "there is no config 'c'"}}) {
    Json section = base;
    section.update(more);
    const auto facts = component.detect(Spec(section), host);
    ASSERT_TRUE(facts) << to_text(facts.error());
    const auto plan = component.plan(Spec(section), *facts, Inputs());
    ASSERT_FALSE(plan) << what;
    EXPECT_EQ(plan.error().code, ErrorCode::invalid) << what;
    EXPECT_THAT(to_text(plan.error()), HasSubstr(what));
  }
}

}  // namespace
}  // namespace slipway::deviceplugin
