// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include "core/graph/graph.hpp"

namespace slipway::core {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

Manifest component(const std::string& name, const std::vector<std::string>& provides = {}) {
  Manifest manifest;
  manifest.component = name;
  manifest.provides = provides;
  return manifest;
}

TEST(ComponentNames, MeanAComponentByItsNameOrByWhatItProvides) {
  const Manifest driver = component("driver", {"gpu-driver"});
  EXPECT_TRUE(is_meant(driver, "driver"));
  EXPECT_TRUE(is_meant(driver, "gpu-driver"));
  EXPECT_FALSE(is_meant(driver, "runtime"));
  EXPECT_TRUE(is_among(driver, {"runtime", "gpu-driver"}));
  EXPECT_FALSE(is_among(driver, {}));
}

TEST(ComponentNames, MeanAllProvidersExceptTheAsker) {
  const Manifest one = component("one", {"gpu-driver"});
  const Manifest two = component("two", {"gpu-driver"});
  EXPECT_THAT(components_for_name("gpu-driver", "other", {&one, &two}), ElementsAre("one", "two"));
  EXPECT_THAT(components_for_name("gpu-driver", "one", {&one, &two}), ElementsAre("two"));
  EXPECT_THAT(components_for_name("two", "two", {&one, &two}), IsEmpty());
}

}  // namespace
}  // namespace slipway::core
