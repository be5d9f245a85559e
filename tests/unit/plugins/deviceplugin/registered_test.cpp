// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include "deviceplugin/status.hpp"

namespace slipway::deviceplugin {
namespace {

Registered running(Json more) {
  Json status{{"gpus", Json::array()},
              {"resources", {{{"name", "nvidia.com/gpu"}, {"healthy", 8}, {"ids", 8}, {"allocatableAtKubelet", 6}}}}};
  status.update(more);
  return {.kubelet = true, .status = status, .running = true, .devices = std::map<std::string, long>()};
}

std::string last_of(const Registered& seen) {
  Findings findings;
  add_findings(seen, findings);
  const Finding& last = findings.list().back();
  return std::string(to_string(last.status)) + "  " + last.name + ": " + last.text;
}

TEST(DevicePluginRegistered, ComparesWhatIsOfferedWithWhatKubeletSays) {
  EXPECT_EQ(last_of(running(Json::object())),
            "fail  deviceplugin.registered: 8 nvidia.com/gpu are offered and kubelet has 6");
}

// A service that stands still knows the GPUs of before the change alone.
TEST(DevicePluginRegistered, IsNotExercisedWhileTheServiceStandsStill) {
  EXPECT_EQ(last_of(running({{"quiet", true}})),
            "not-exercised  deviceplugin.registered: the service stands still while somebody changes the GPUs");
}

}  // namespace
}  // namespace slipway::deviceplugin
