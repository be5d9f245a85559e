// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include "deviceplugin/conflicts.hpp"
#include "deviceplugin/status.hpp"

namespace slipway::deviceplugin {
namespace {

Registered running(const Json& more) {
  Json status{{"gpus", Json::array()},
              {"resources", {{{"name", "nvidia.com/gpu"}, {"healthy", 8}, {"ids", 8}, {"allocatableAtKubelet", 6}}}}};
  status.update(more);
  return {
      .kubelet = true, .status = status, .running = true, .devices = std::map<std::string, std::vector<std::string>>()};
}

std::string last_of(const Registered& seen) {
  Findings findings;
  add_findings(seen, findings);
  const Finding& last = findings.list().back();
  return std::string(to_string(last.status)) + "  " + last.name + ": " + last.text;
}

TEST(DevicePluginRegistered, ComparesTheOfferWithKubeletsView) {
  EXPECT_EQ(last_of(running(Json::object())),
            "fail  deviceplugin.registered: 8 nvidia.com/gpu are offered and kubelet has 6");
}

// Before the fix, a process that held the lock kept the service from registering at kubelet, which still had the old
// devices: verify passed.
TEST(DevicePluginRegistered, FailsWhereTheServiceCannotRegisterWhateverKubeletStillHas) {
  const Json waits{
      {"name", "nvidia.com/gpu"}, {"healthy", 8}, {"allocatableAtKubelet", 8}, {"problem", "it is locked"}};
  Registered seen = running({{"resources", {waits}}});
  EXPECT_EQ(last_of(seen),
            "fail  deviceplugin.registered: nvidia.com/gpu is not registered with kubelet: it is locked");
  seen.devices.reset();
  EXPECT_EQ(last_of(seen),
            "fail  deviceplugin.registered: nvidia.com/gpu is not registered with kubelet: it is locked");
}

// A paused service knows only the GPUs from before the change.
TEST(DevicePluginRegistered, IsNotExercisedWhileTheServiceIsQuiesced) {
  EXPECT_EQ(last_of(running({{"quiet", true}})),
            "not-exercised  deviceplugin.registered: the service is paused while another program changes the GPUs");
}

// Before the fix, a driver with another version than its library was reported as a separate cause for each GPU.
TEST(DevicePluginRegistered, IsReportedForGpusWithoutADriver) {
  const Json gpu{{"index", 0},
                 {"address", "0000:65:00.0"},
                 {"health", {{"healthy", false}, {"text", "the driver does not answer"}, {"remedy", "wait"}}}};
  const auto cause = [&](const std::string& problem) {
    Findings findings;
    add_findings(running({{"gpus", {gpu}}, {"problem", problem}}), findings);
    return findings.list().front().cause;
  };
  EXPECT_EQ(cause("NVML_ERROR_LIB_RM_VERSION_MISMATCH"), "deviceplugin.offers");
  EXPECT_EQ(cause(""), "gpu/0000:65:00.0");
}

// kubelet may start after that verify, and shows the state of the last shutdown until it runs.
TEST(DevicePluginRegistered, IsNotExercisedWhereABootIsVerified) {
  Registered seen = running(Json::object());
  seen.booting = true;
  EXPECT_EQ(last_of(seen),
            "not-exercised  deviceplugin.registered: this machine is booting: kubelet may start only after the boot is "
            "verified");
}

TEST(DevicePluginRegistered, IsNotExercisedWhileTheGpusAreLeftToAnotherPlugin) {
  EXPECT_EQ(last_of(running({{"yields", "NVIDIA's device plugin is there"}, {"resources", Json::array()}})),
            "not-exercised  deviceplugin.registered: NVIDIA's device plugin is there");
}

// kubelet's checkpoint keeps a resource for a while after its plugin has withdrawn it. Before the fix, this was taken
// for a resource of another plugin.
TEST(DevicePluginRegistered, RemembersTheOfferedResourcesSinceTheBoot) {
  EXPECT_THAT(offered_since_boot({{"resources", {{{"name", "nvidia.com/gpu"}}, 7}},
                                  {"formerResources", {"nvidia.com/gpu.shared", 7}}}),
              ::testing::ElementsAre("nvidia.com/gpu", "nvidia.com/gpu.shared"));
  EXPECT_THAT(offered_since_boot(Json::object()), ::testing::IsEmpty());
}

TEST(DevicePluginSharing, IsAWarningOfDoctorForEachConflict) {
  Findings findings;
  add_conflict_findings({{"conflicts", {{{"device", "GPU-0"}, {"text", "GPU 0 is shared"}, {"remedy", "wait"}}, 7}}},
                        findings);
  ASSERT_EQ(findings.list().size(), 1U);
  EXPECT_EQ(findings.list()[0].name, "deviceplugin.sharing");
  EXPECT_EQ(findings.list()[0].status, Finding::Status::warning);
  EXPECT_EQ(findings.list()[0].text, "GPU 0 is shared");
  EXPECT_EQ(findings.list()[0].remedy, "wait");
}

}  // namespace
}  // namespace slipway::deviceplugin
