// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include "base/kernels/kernels.hpp"

namespace slipway::base {
namespace {

using ::testing::ElementsAre;

TEST(KernelRelease, SortsAsPeopleCount) {
  EXPECT_LT(kernel_key("6.1.0-9-amd64"), kernel_key("6.1.0-10-amd64"));
  EXPECT_LT(kernel_key("5.15.0-1-amd64"), kernel_key("6.1.0-1-amd64"));
  EXPECT_LT(kernel_key(""), kernel_key("6.1.0"));
  std::vector<std::string> releases{"6.1.0-9-amd64", "5.15.0-1-amd64", "6.1.0-10-amd64"};
  sort_newest_first(releases);
  EXPECT_THAT(releases, ElementsAre("6.1.0-10-amd64", "6.1.0-9-amd64", "5.15.0-1-amd64"));
}

}  // namespace
}  // namespace slipway::base
