// SPDX-License-Identifier: Apache-2.0
#include "cli/explain/explain.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/spec/document.hpp"
#include "plugins.hpp"

namespace slipway::core {
namespace {

using testing::HasSubstr;

std::string text_of(const std::string& component, const std::string& key = "") {
  const auto text = explain(*test_plugins().manifest(component), key);
  return text ? *text : to_text(text.error());
}

TEST(Explain, ListsEveryKeyWithTypeDefaultHelpAndExample) {
  const std::string text = text_of("driver");
  EXPECT_THAT(text, HasSubstr("driver: NVIDIA kernel modules and user space\n  provides: gpu-driver\n"));
  EXPECT_THAT(text, HasSubstr("\nversion (string; required)\n    The driver's version.\n"));
  EXPECT_THAT(text, HasSubstr("    example: \"535.261.03\"\n"));
  EXPECT_THAT(text, HasSubstr("\nmodules (auto, open or proprietary; default auto)\n"));
  EXPECT_THAT(text, HasSubstr("\nmodprobe (map of string)\n"));
}

TEST(Explain, ShowsNestedKeys) {
  const std::string text = text_of("deviceplugin");
  EXPECT_THAT(text, HasSubstr("\nlimits.memory_mib (integer; default 64)\n"));
  EXPECT_THAT(text, HasSubstr("\nresources (list of object)\n"));
  EXPECT_THAT(text, HasSubstr("\nresources[].replicas (integer; default 1)\n"));
}

TEST(Explain, OfOneKeyShowsThatKeyAndWhatIsBelowIt) {
  EXPECT_EQ(text_of("deviceplugin", "limits.memory_mib"), "deviceplugin.limits.memory_mib (integer; default 64)\n");
  EXPECT_THAT(text_of("deviceplugin", "resources.name"), HasSubstr("deviceplugin.resources.name (string; required)"));
  EXPECT_THAT(text_of("driver", "source"), HasSubstr("\ndriver.source.insecure (boolean)\n"));
  EXPECT_THAT(text_of("driver", "source.ca"), HasSubstr("driver.source.ca (path)\n"));
}

TEST(Explain, OfAnUnknownKeyNamesTheNearestOne) {
  const auto text = explain(*test_plugins().manifest("driver"), "verson");
  ASSERT_FALSE(text);
  EXPECT_EQ(text.error().code, ErrorCode::usage);
  EXPECT_EQ(text.error().what, "driver has no key 'verson'; did you mean 'version'?");
  EXPECT_THAT(text_of("deviceplugin", "limits.memory"), HasSubstr("its keys are memory_mib and socket"));
  EXPECT_THAT(text_of("driver", "version.major"), HasSubstr("driver.version has no key 'major'"));
  EXPECT_THAT(text_of("cdi", "a"), HasSubstr("cdi has no key 'a'"));
}

}  // namespace
}  // namespace slipway::core
