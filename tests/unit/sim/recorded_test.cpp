// SPDX-License-Identifier: Apache-2.0
// The simulator returns the recorded answers of real GPUs: recorded/ has them.
#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <map>

#include <slipway/json.hpp>

#include "nvidia/nvml/device.hpp"
#include "nvidia/nvml/event.hpp"
#include "nvidia/nvml/mig.hpp"
#include "tests/unit/sim/sim_fixture.hpp"

namespace slipway::sim {
namespace {

namespace nvml = nvidia::nvml;

class RecordedGpu : public SimTest, public ::testing::WithParamInterface<const char*> {
 protected:
  static Json recorded() {
    std::ifstream file(std::filesystem::path(SIM_RECORDED) / (std::string(GetParam()) + ".json"));
    return Json::parse(file);
  }

  /// In the format of the record.
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

using RecordedFieldValues = SimTest;

TEST_F(RecordedFieldValues, AreThoseThatTheRealOneAnswered) {
  std::ifstream file(std::filesystem::path(SIM_RECORDED) / "h200-field-values.json");
  const Json real = Json::parse(file);
  make(real["profile"].get<std::string>());
  const auto gpu = nvml::device_at(*nvml_, 0).value_or(nullptr);
  const auto code_of = [&](unsigned field) {
    const auto values = nvml::field_values(*nvml_, gpu, {field});
    return values ? static_cast<int>(values->front().nvmlReturn) : -1;
  };
  for (const Json& field : real["answered"]) EXPECT_EQ(code_of(field.get<unsigned>()), NVML_SUCCESS) << field;
  for (const Json& field : real["not_supported"])
    EXPECT_EQ(code_of(field.get<unsigned>()), NVML_ERROR_NOT_SUPPORTED) << field;
}

// Before the fix, a driver of branch 535 returned a recovery action, which exists from 570 on. A fault that a real
// driver keeps open ended after half a minute.
TEST_F(RecordedFieldValues, OfLaterBranchesAreNotSupported) {
  struct Row {
    const char* driver;
    unsigned last;  // that the branch has
  };
  for (const auto& [driver, last] : {Row{"535.261.03", 196}, Row{"550.90.07", 199}, Row{"560.35.03", 229},
                                     Row{"570.133.20", 268}, Row{"580.82.07", 273}}) {
    make(std::string("h100x1,driver=") + driver);
    const auto gpu = nvml::device_at(*nvml_, 0).value_or(nullptr);
    EXPECT_EQ(nvml::asked_recovery_action(*nvml_, gpu).has_value(), last >= 230) << driver;
    for (unsigned field = last + 1; field < 300; ++field) {
      const auto values = nvml::field_values(*nvml_, gpu, {field});
      ASSERT_TRUE(values.ok());
      EXPECT_EQ(values->front().nvmlReturn, NVML_ERROR_NOT_SUPPORTED) << driver << " " << field;
    }
  }
}

// A real driver returned 0 W for the limits, without an error and without a time, when a C2C link was requested in the
// same call.
TEST_F(RecordedFieldValues, ThatTheDriverSkipsAreRequestedOnceMore) {
  make("h200x1");
  const auto gpu = nvml::device_at(*nvml_, 0).value_or(nullptr);
  const auto raw = nvml_->ask<nvmlFieldValue_t>([gpu](const nvml::Library& library, nvmlFieldValue_t& limit) {
    std::array<nvmlFieldValue_t, 2> both{{{.fieldId = 170}, {.fieldId = 187}}};
    const auto function = library.function<nvmlDevice_t, int, nvmlFieldValue_t*>("nvmlDeviceGetFieldValues");
    const nvmlReturn_t code = nvml::invoke(function, gpu, 2, both.data());
    limit = both[1];
    return code;
  });
  ASSERT_TRUE(raw.ok());
  EXPECT_EQ(raw->nvmlReturn, NVML_SUCCESS);
  EXPECT_EQ(raw->timestamp, 0);
  const auto values = nvml::field_values(*nvml_, gpu, {82, 170, 187, 83, 188});
  ASSERT_TRUE(values.ok());
  EXPECT_EQ((*values)[1].nvmlReturn, NVML_ERROR_NOT_SUPPORTED);
  EXPECT_EQ(nvml::number_of((*values)[2]), 200'000);
  EXPECT_EQ(nvml::number_of((*values)[4]), 700'000);
}

INSTANTIATE_TEST_SUITE_P(Models, RecordedGpu, ::testing::Values("h100-80gb-hbm3", "h200"), [](const auto& param) {
  std::string name = param.param;
  std::erase(name, '-');
  return name;
});

}  // namespace
}  // namespace slipway::sim
