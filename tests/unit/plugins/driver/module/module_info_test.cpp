// SPDX-License-Identifier: Apache-2.0
#include "driver/module/module_info.hpp"

#include <memory>
#include <random>

#include <archive.h>
#include <archive_entry.h>
#include <gmock/gmock.h>

#include "tests/unit/plugins/driver/compressed.hpp"
#include "tests/unit/plugins/driver/test_host.hpp"

namespace slipway::driver {
namespace {

using testing::compressed;
using testing::content_of;

TEST(ModuleInfo, IsReadFromAnObjectOfTheCompiler) {
  const auto info = read_module_info(content_of(MODULE_50));
  ASSERT_TRUE(info) << to_text(info.error());
  EXPECT_EQ(info->at("version"), "535.261.03");
  EXPECT_EQ(info->at("vermagic"), "6.1.0-50-amd64 SMP preempt mod_unload modversions ");
  EXPECT_EQ(vermagic_release(info->at("vermagic")), "6.1.0-50-amd64");
  EXPECT_EQ(info->at("alias"), "char-major-195-*");
}

TEST(ModuleInfo, IsTheSameForEveryCompression) {
  const auto plain = read_module_info(content_of(MODULE_50));
  for (const auto* filter : {"xz", "zstd", "gzip"}) {
    const auto info = read_module_info(compressed(content_of(MODULE_50), filter));
    ASSERT_TRUE(info) << filter << to_text(info.error());
    EXPECT_EQ(*info, *plain) << filter;
  }
}

TEST(ModuleInfo, OfAnotherFileIsAnErrorWithAReason) {
  EXPECT_THAT(read_module_info("").error().what, ::testing::StartsWith("the kernel module cannot be read: "));
  EXPECT_EQ(read_module_info("\x7f"
                             "ELF")
                .error()
                .what,
            "the kernel module cannot be read: it is not an ELF file");
  EXPECT_EQ(read_module_info(content_of("/bin/true")).error().what,
            "the kernel module cannot be read: it has no .modinfo section");
}

// Modules come from packages: broken ones must be refused, and must not crash verify.
TEST(ModuleInfo, OfADamagedModuleIsReadOrRefused) {
  std::mt19937 random{13};
  const std::string good = content_of(MODULE_50);
  const std::string packed = compressed(good, "xz");
  for (int round = 0; round < 2000; ++round) {
    std::string bytes = round % 4 == 0 ? packed : good;
    if (random() % 2 != 0) bytes.resize(random() % bytes.size());
    for (auto edits = random() % 5; edits > 0 && !bytes.empty(); --edits)
      bytes[random() % bytes.size()] = static_cast<char>(random() % 256);
    const auto info = read_module_info(bytes);
    if (!info) {
      EXPECT_EQ(info.error().code, ErrorCode::corrupt);
    }
  }
}

}  // namespace
}  // namespace slipway::driver
