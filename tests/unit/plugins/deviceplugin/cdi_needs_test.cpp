// SPDX-License-Identifier: Apache-2.0
#include "deviceplugin/cdi_needs.hpp"

#include <gmock/gmock.h>

#include <slipway/testing/fake_host.hpp>

#include "machines.hpp"

namespace slipway::deviceplugin {
namespace {

using slipway::testing::FakeHost;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using testing::settings_of;

const std::string kCdi = "flags: {plugin: {deviceListStrategy: cdi-cri}}\n";

Json needs_of(const std::string& config, const Host& host, const std::string& vendor = "nvidia.com") {
  const auto settings = settings_of(config);
  EXPECT_TRUE(settings) << settings.error().what;
  return cdi_needs(*settings, vendor, host);
}

/// Returns outputs of the component cdi about its specs.
Inputs cdi_says(const std::string& kinds, const std::string& absent = "", const std::string& names = "index,uuid") {
  return Inputs(Json{{"outputs", {{"cdi", {{"kinds", kinds}, {"absent_kinds", absent}, {"names", names}}}}}});
}

/// Returns the error's text; empty if both match.
std::string refused(const std::string& config, const Inputs& inputs, const std::string& vendor = "nvidia.com") {
  const auto error = missing_in_cdi(needs_of(config, FakeHost(), vendor), inputs);
  return error ? to_text(*error) : "";
}

TEST(CdiNeeds, AreEmptyWithoutAStrategyOfCdi) {
  EXPECT_TRUE(needs_of("", FakeHost()).is_null());
  EXPECT_EQ(refused("flags: {gdsEnabled: true}", cdi_says("nvidia.com/gpu")), "");
}

TEST(CdiNeeds, ThatTheComponentCdiMeetsAreInOrder) {
  EXPECT_EQ(refused(kCdi, cdi_says("nvidia.com/gpu")), "");
  EXPECT_EQ(refused("flags: {gdsEnabled: true, plugin: {deviceListStrategy: [envvar, cdi-annotations]}}",
                    cdi_says("nvidia.com/gpu,nvidia.com/gds")),
            "");
  EXPECT_EQ(refused(kCdi, Inputs()), "") << "the component cdi is planned later";
}

// Before the fix, each pod failed with "unresolvable CDI devices".
TEST(CdiNeeds, OfAFunctionWithoutASpecAreAnErrorThatNamesTheMode) {
  for (const auto& [flag, mode] :
       {std::pair{"gdsEnabled", "gds"}, {"mofedEnabled", "mofed"}, {"gdrcopyEnabled", "gdrcopy"}}) {
    const std::string config = "flags: {" + std::string(flag) + ": true, plugin: {deviceListStrategy: cdi-cri}}";
    EXPECT_THAT(
        refused(config, cdi_says("nvidia.com/gpu")),
        AllOf(HasSubstr("the config has " + std::string(flag)),
              HasSubstr("CDI device of nvidia.com/" + std::string(mode)),
              HasSubstr("add " + std::string(mode) + " to spec.components.cdi.modes, or leave " + flag + " out")));
    EXPECT_THAT(refused(config, cdi_says("nvidia.com/gpu", "nvidia.com/" + std::string(mode))),
                AllOf(HasSubstr("but this machine has no such device"), HasSubstr("the device comes with")));
  }
}

TEST(CdiNeeds, OfImexChannelsAreAnErrorOnlyWithoutAModeThatMakesTheirSpec) {
  const std::string config = kCdi + "imex: {channelIDs: [0]}\n";
  EXPECT_THAT(refused(config, cdi_says("nvidia.com/gpu")),
              AllOf(HasSubstr("add imex to spec.components.cdi.modes"), HasSubstr("config.imex.channelIDs")));
  EXPECT_EQ(refused(config, cdi_says("nvidia.com/gpu", "nvidia.com/imex-channel")), "") << "it is not asked for then";
}

TEST(CdiNeeds, OfAnotherNamingOrVendorAreAnError) {
  EXPECT_THAT(refused(kCdi, cdi_says("nvidia.com/gpu", "", "index")),
              AllOf(HasSubstr("deviceIDStrategy is uuid"), HasSubstr("add uuid to spec.components.cdi.names"),
                    HasSubstr("or set deviceIDStrategy: index")));
  EXPECT_THAT(refused("flags: {plugin: {deviceListStrategy: cdi-cri, deviceIDStrategy: index}}",
                      cdi_says("nvidia.com/gpu", "", "type-index")),
              HasSubstr("name devices by type-index alone"));
  EXPECT_THAT(refused(kCdi, cdi_says("example.com/gpu")),
              HasSubstr("set spec.components.deviceplugin.cdi_vendor: example.com"));
  EXPECT_EQ(refused(kCdi, cdi_says("example.com/gpu"), "example.com"), "");
  // With this device, every pod would get every node of the driver.
  EXPECT_THAT(refused(kCdi, cdi_says("management.nvidia.com/gpu")),
              AllOf(HasSubstr("add nvml to spec.components.cdi.modes"), Not(HasSubstr("cdi_vendor"))));
}

TEST(CdiNeeds, WithoutTheComponentCdiAreANoteUntilASpecExists) {
  FakeHost host;
  host.live("6.1.0-50-amd64");
  EXPECT_THAT(cdi_note(needs_of(kCdi, host), Inputs()), HasSubstr("no CDI spec on this host has one yet"));
  host.file("/etc/cdi/nvidia.yaml",
            "cdiVersion: 0.5.0\nkind: nvidia.com/gpu\ndevices:\n- name: GPU-1\n  containerEdits: {env: [A=b]}\n");
  EXPECT_THAT(cdi_note(needs_of(kCdi, host), Inputs()), IsEmpty());
}

// Before the fix, a boot without a GPU was never verified: there is no spec for missing GPUs.
TEST(CdiFinding, IsNotApplicableWithoutAGpu) {
  FakeHost host;
  host.live("6.1.0-50-amd64");
  Findings findings;
  add_cdi_finding(needs_of(kCdi, host), host, findings);
  EXPECT_EQ(findings.list().at(0).status, Finding::Status::not_applicable);
}

TEST(CdiFinding, NamesDevicesWithoutASpec) {
  FakeHost host;
  host.live("6.1.0-50-amd64")
      .pci({.address = "0000:65:00.0", .vendor = 0x10de, .device = 0x2330, .device_class = 0x030200});
  const auto finding = [&](const std::string& config) {
    Findings findings;
    add_cdi_finding(needs_of(config, host), host, findings);
    return std::string(to_string(findings.list().at(0).status)) + " " + findings.list().at(0).text;
  };
  EXPECT_THAT(finding(kCdi), HasSubstr("fail deviceListStrategy is cdi-cri, but no CDI spec that engines find has"));
  const std::string head = "cdiVersion: 0.5.0\nkind: nvidia.com/gpu\ndevices:\n- name: ";
  const std::string edits = "\n  containerEdits: {env: [A=b]}\n";
  host.file("/var/run/cdi/nvidia.com-gpu.yaml", head + "\"0\"" + edits);
  EXPECT_THAT(finding(kCdi), HasSubstr("that is named by uuid: no such pod can start"));
  EXPECT_THAT(finding("flags: {plugin: {deviceListStrategy: cdi-cri, deviceIDStrategy: index}}"), HasSubstr("pass"));
  host.file("/var/run/cdi/nvidia.com-gpu.yaml", head + "GPU-1" + edits);
  EXPECT_THAT(finding(kCdi), HasSubstr("pass"));
  host.file("/var/run/cdi/nvidia.com-gpu.yaml", "half a sp");
  EXPECT_THAT(finding(kCdi), AllOf(HasSubstr("fail"), HasSubstr("left out is /var/run/cdi/nvidia.com-gpu.yaml")));
}

// Before the fix, an apply of an image failed: its CDI specs are written when it boots.
TEST(CdiFinding, IsNotExercisedWhereNoDriverRunsYet) {
  const FakeHost image;
  Findings findings;
  add_cdi_finding(needs_of(kCdi, image), image, findings);
  ASSERT_EQ(findings.list().size(), 1U);
  EXPECT_EQ(findings.list().front().status, Finding::Status::not_exercised);
}

}  // namespace
}  // namespace slipway::deviceplugin
