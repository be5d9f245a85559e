// SPDX-License-Identifier: Apache-2.0
// Components that cannot be judged keep the current state.
#include "tests/component/cli/driver_root.hpp"

namespace slipway {
namespace {

using slipway::testing::DriverRoot;
using slipway::testing::Ran;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr const char* kMachine = "h100x8,driver=535.261.03";
constexpr const char* kConfig = "etc/containerd/config.toml";
constexpr const char* kDefaults = "etc/slipway/device-plugin-defaults.json";

class Unjudged : public ::testing::Test {
 protected:
  Unjudged() {
    root_.put("usr/bin/containerd", "x");
    std::filesystem::permissions(root_.path("usr/bin/containerd"), std::filesystem::perms(0755));
    root_.put(kConfig, "version = 2\n");
    root_.spec("    driver: {version: \"535.261.03\", modules: open, source: {repository: " + testing::kPackage +
               ", trust: unsigned}}\n    runtime: {}\n    cdi: {}\n    deviceplugin: {}\n");
  }
  DriverRoot root_;
};

// Before the fix, the apply dropped the device plugin's choice of CDI: containers then got no GPU.
TEST_F(Unjudged, AnUnreadableEngineKeepsTheDevicePluginsEarlierChoice) {
  ASSERT_EQ(root_.run({"apply"}, kMachine).code, 0) << root_.error_text();
  ASSERT_THAT(root_.text(kDefaults), HasSubstr("cdi-cri"));
  const std::string good = root_.text(kConfig);
  root_.put(kConfig, "version = [\n");
  const Ran apply = root_.run({"apply"}, kMachine);
  EXPECT_EQ(apply.code, 1) << apply.out;
  EXPECT_THAT(apply.out + apply.err, AllOf(HasSubstr("runtime: failed"), HasSubstr("config.toml:")));
  EXPECT_THAT(root_.text(kDefaults), HasSubstr("cdi-cri"));
  EXPECT_EQ(root_.text(kConfig), "version = [\n");
  for (const std::string command : {"verify", "doctor"})
    EXPECT_THAT(root_.run({command}, kMachine).out,
                HasSubstr("leads to runtime.verify: /etc/containerd/config.toml:1:13: it is not TOML: "));
  root_.put(kConfig, good);
  EXPECT_EQ(root_.run({"apply"}, kMachine).code, 0) << root_.error_text();
}

// Before the fix, there were three entries, one of which read like a command, and two advised an apply, which keeps the
// file.
TEST_F(Unjudged, AReplacedConfigIsOneEntryWithItsRemedy) {
  ASSERT_EQ(root_.run({"apply"}, kMachine).code, 0) << root_.error_text();
  root_.put(kConfig, "version = 2\n[debug]\nlevel = \"debug\"\n");
  const std::string doctor = root_.run({"doctor"}, kMachine).out;
  EXPECT_THAT(doctor, AllOf(HasSubstr("fail  runtime.owned: "), Not(HasSubstr("runtime.owned: change ")),
                            Not(HasSubstr("fail  runtime.containerd"))));
}

}  // namespace
}  // namespace slipway
