// SPDX-License-Identifier: Apache-2.0
#include "app/kernel_change.hpp"

#include <gmock/gmock.h>

namespace slipway::app {
namespace {

// systemd does not allow '+' in the name of a unit; Debian's backports have it in their releases.
TEST(KernelUnit, HasTheReleaseWithCharactersThatSystemdTakes) {
  EXPECT_EQ(kernel_unit("6.1.0-50-amd64"), "slipway-kernel@6.1.0-50-amd64.service");
  EXPECT_EQ(kernel_unit("6.12.9+bpo-amd64"), "slipway-kernel@6.12.9\\x2bbpo-amd64.service");
}

TEST(KernelUnit, HandsTheReleaseToTheCommandWhichReadsItBack) {
  for (const std::string release : {"6.1.0-50-amd64", "6.12.9+bpo-amd64", "5.14.0-427.el9.x86_64", "6.8~rc1"}) {
    const std::string unit = kernel_unit(release);
    const std::size_t begin = unit.find('@') + 1;
    const auto read = kernel_release_from(unit.substr(begin, unit.rfind(".service") - begin));
    ASSERT_TRUE(read) << to_text(read.error());
    EXPECT_EQ(*read, release);
  }
}

TEST(KernelRelease, ThatIsNoneIsRefused) {
  for (const std::string word : {"", "../x", "-x", ".x", "a/b", "a b", "a\\x2fb", "a\\x", "a\nb"}) {
    const auto read = kernel_release_from(word);
    ASSERT_FALSE(read) << word;
    EXPECT_EQ(read.error().code, ErrorCode::usage);
  }
  EXPECT_TRUE(kernel_release_from(std::string(64, 'a')));
  EXPECT_FALSE(kernel_release_from(std::string(65, 'a'))) << "longer than the kernel's own limit";
}

}  // namespace
}  // namespace slipway::app
