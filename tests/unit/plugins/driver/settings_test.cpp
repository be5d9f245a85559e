// SPDX-License-Identifier: Apache-2.0
#include "driver/settings.hpp"

#include <gmock/gmock.h>

#include "driver/plan/module_parameters.hpp"

namespace slipway::driver {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

Json defaults_with(const Json& more = Json::object()) {
  Json json{
      {"modules", "auto"},         {"precompiled", "prefer"}, {"load", {"nvidia", "nvidia-uvm", "nvidia-modeset"}},
      {"blacklist_nouveau", true}, {"libdir", "auto"},        {"existing", "refuse"}};
  json.update(more);
  return json;
}

Settings settings(const Json& more = Json::object()) {
  auto result = read_settings(Spec{defaults_with(more)});
  EXPECT_TRUE(result) << to_text(result.error());
  return result ? *result : Settings{};
}

std::string refusal(const Json& more) {
  const auto result = read_settings(Spec{defaults_with(more)});
  EXPECT_FALSE(result);
  return result ? "" : to_text(result.error());
}

TEST(Settings, HaveEmptyDefaults) {
  const auto defaults = settings();
  EXPECT_FALSE(defaults.modules);
  EXPECT_EQ(defaults.precompiled, Precompiled::prefer);
  EXPECT_TRUE(defaults.blacklist_nouveau);
  EXPECT_FALSE(defaults.keep_existing);
  EXPECT_THAT(defaults.load, ElementsAre("nvidia", "nvidia-uvm", "nvidia-modeset"));
}

TEST(Settings, LoadDependenciesInTheDriversOrder) {
  EXPECT_THAT(settings({{"load", {"nvidia-drm", "nvidia-uvm"}}}).load,
              ElementsAre("nvidia", "nvidia-uvm", "nvidia-modeset", "nvidia-drm"));
  EXPECT_THAT(settings({{"load", Json::array()}}).load, ElementsAre());
}

TEST(Settings, NameTheNearestGpuOfOneThatIsNotKnown) {
  EXPECT_EQ(
      refusal({{"gpus", {"H100", "L40Z"}}}),
      "error: 'L40Z' is not a GPU that slipway knows\n  at:    spec.components.driver.gpus\n  do:    did you mean "
      "'L40'?\n");
  EXPECT_THAT(refusal({{"gpus", {"Radeon"}}}), HasSubstr("write a product (H100), a PCI id (10de:2330)"));
}

TEST(Settings, TakeParametersAsTheKernelReadsThem) {
  const auto parameters = settings({{"parameters",
                                     {{"nvidia",
                                       {{"NVreg_RestrictProfilingToAdminUsers", 0},
                                        {"NVreg_RegistryDwords", "RMa=1;RMb=2 3"},
                                        {"NVreg_EnableResizableBar", true}}},
                                      {"nvidia-uvm", {{"uvm_disable_hmm", true}}}}}})
                              .parameters;
  EXPECT_EQ(options_lines(parameters),
            "options nvidia NVreg_EnableResizableBar=1 NVreg_RegistryDwords=\"RMa=1;RMb=2 3\" "
            "NVreg_RestrictProfilingToAdminUsers=0\noptions nvidia-uvm uvm_disable_hmm=1\n");
}

TEST(Settings, RefuseParametersThatNoModprobeFileCanHold) {
  EXPECT_THAT(refusal({{"parameters", {{"nvidia", {{"NVreg_RmMsg", "a\"b"}}}}}}),
              HasSubstr("cannot be written to a modprobe.d file\n  at:    "
                        "spec.components.driver.parameters.nvidia.NVreg_RmMsg\n"));
  EXPECT_THAT(refusal({{"parameters", {{"nvidia", {{"a=b", "1"}}}}}}),
              HasSubstr("cannot be written to a modprobe.d file"));
  EXPECT_THAT(refusal({{"parameters", {{"nvidia", {{"NVreg_RmMsg", "a\nblacklist nvidia"}}}}}}),
              HasSubstr("line breaks"));
  EXPECT_THAT(refusal({{"parameters", {{"nvidia", {{"NVreg_EnableMSI", Json::array()}}}}}}),
              HasSubstr("no plain value"));
  EXPECT_THAT(refusal({{"parameters", {{"nvidia_uvm", {{"a", 1}}}}}}), HasSubstr("did you mean 'nvidia-uvm'?"));
}

TEST(Settings, RefuseAnIncompleteSigningPairAndAKeyFromTheEnvironment) {
  EXPECT_THAT(refusal({{"signing", {{"key", {{"file", "/k"}}}}}}), HasSubstr("needs both a key and its certificate"));
  EXPECT_THAT(refusal({{"signing", {{"key", {{"env", "KEY"}}}, {"certificate", "/c"}}}}), HasSubstr("must be a file"));
  const auto good = settings({{"signing", {{"key", {{"file", "/k"}}}, {"certificate", "/c"}}}});
  EXPECT_EQ(good.sign_key, "/k");
  EXPECT_EQ(good.sign_certificate, "/c");
}

TEST(ModuleParameters, ThatAreNotKnownAreNamedWithTheNearestOne) {
  const auto warnings = parameter_warnings({{"nvidia", {{"NVreg_EnableMSIx", "1"}, {"NVreg_EnableMSI", "1"}}},
                                            {"nvidia-uvm", {{"uvm_perf_thrashing_nap", "1"}}}});
  ASSERT_EQ(warnings.size(), 1U);
  EXPECT_THAT(warnings[0], HasSubstr("slipway does not know the parameter 'NVreg_EnableMSIx' of the module nvidia"));
  EXPECT_THAT(warnings[0], HasSubstr("did you mean 'NVreg_EnableMSI'?"));
}

TEST(ModuleParameters, SetTheModeOfDeviceNodesInAnyBase) {
  const auto mode = [](const char* text) {
    return device_file_mode({{"nvidia", {{"NVreg_DeviceFileMode", text}}}}, 0666);
  };
  EXPECT_EQ(mode("0660"), 0660U);
  EXPECT_EQ(mode("432"), 0660U);
  EXPECT_EQ(mode("0x1b0"), 0660U);
  EXPECT_EQ(mode("rw"), 0666U);
  EXPECT_EQ(mode("99999"), 0666U);
  EXPECT_EQ(device_file_mode({}, 0666), 0666U);
}

}  // namespace
}  // namespace slipway::driver
