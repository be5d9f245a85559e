// SPDX-License-Identifier: Apache-2.0
// The simulator says of a GPU what such a GPU said of itself: recorded/ has answers of real ones.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>

#include <slipway/json.hpp>

#include "nvidia/nvml/device.hpp"
#include "nvidia/nvml/mig.hpp"
#include "tests/unit/sim/sim_fixture.hpp"

namespace slipway::core {
namespace {

namespace nvml = nvidia::nvml;

class RecordedGpu : public SimTest, public ::testing::WithParamInterface<const char*> {
 protected:
  static Json recorded() {
    std::ifstream file(std::filesystem::path(SIM_RECORDED) / (std::string(GetParam()) + ".json"));
    return Json::parse(file);
  }

  /// In the form of the record.
  Json simulated(nvmlDevice_t gpu, const nvml::GpuInstanceProfile& profile) {
    Json starts = Json::array();
    unsigned size = 0;
    for (const auto& place : nvml::placements(*nvml_, gpu, profile.id).value_or({})) {
      starts.push_back(place.start);
      size = place.size;
    }
    return {{"selector", profile.selector},
            {"id", profile.id},
            {"name", "MIG " + profile.name},
            {"slices", profile.slices},
            {"max", profile.max_instances},
            {"multiprocessors", profile.multiprocessors},
            {"copy_engines", profile.copy_engines},
            {"decoders", profile.decoders},
            {"encoders", profile.encoders},
            {"jpeg", profile.jpeg},
            {"ofa", profile.ofa},
            {"memory_mib", profile.memory_mib},
            {"starts", starts},
            {"size", size}};
  }
};

TEST_P(RecordedGpu, HasTheMigProfilesAndPlacementsOfTheRealOne) {
  const Json real = recorded();
  make(real["profile"].get<std::string>());
  const auto gpu = nvml::device_at(*nvml_, 0).value_or(nullptr);
  EXPECT_EQ(nvml::device_name(*nvml_, gpu).value_or(""), real["model"].get<std::string>());
  std::map<unsigned, Json> expected;
  for (const Json& each : real["gpu_instance_profiles"]) expected[each["selector"].get<unsigned>()] = each;
  const auto profiles = nvml::gpu_instance_profiles(*nvml_, gpu);
  ASSERT_TRUE(profiles.ok());
  EXPECT_EQ(profiles->size(), expected.size());
  for (const auto& profile : *profiles) EXPECT_EQ(simulated(gpu, profile), expected[profile.selector]) << profile.name;
}

INSTANTIATE_TEST_SUITE_P(Models, RecordedGpu, ::testing::Values("h100-80gb-hbm3", "h200"), [](const auto& param) {
  std::string name = param.param;
  std::erase(name, '-');
  return name;
});

}  // namespace
}  // namespace slipway::core
