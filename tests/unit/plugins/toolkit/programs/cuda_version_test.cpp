// SPDX-License-Identifier: Apache-2.0
// The use of an image's CUDA compatibility libraries, decided by a note in them.
#include <gtest/gtest.h>

#include "elf_note.hpp"

namespace slipway::hook {
namespace {

HostVersions host_with(const std::string& driver, const std::string& cuda = "") {
  return {.driver = parse_version(driver), .cuda = parse_version(cuda)};
}

TEST(CudaCompat, IsPreferredWhenItsNoteNamesTheHostsDriver) {
  const Version compat = parse_version("550.54.15");
  EXPECT_TRUE(is_better_cuda(host_with("535.261.03"), compat, R"({"Driver": [535, 545]})"));
  EXPECT_TRUE(is_better_cuda(host_with("535.261.03"), compat, R"({"Driver": ["535"]})"));
  EXPECT_FALSE(is_better_cuda(host_with("545.1"), compat, R"({"Driver": [535]})"));
  EXPECT_FALSE(is_better_cuda(host_with("570.1"), compat, R"({"Driver": [570]})"));
  EXPECT_TRUE(is_better_cuda(host_with("", "12.2"), compat, R"({"CUDA Version": "12.4"})"));
  EXPECT_FALSE(is_better_cuda(host_with("", "12.4"), compat, R"({"CUDA Version": 12.8})"));
  EXPECT_TRUE(is_better_cuda(host_with("535.261.03"), compat, "no JSON"));
}

// Before the fix, a copy of a deeply nested value overflowed the stack of the hook, which is root.
TEST(CudaCompat, ReadsADeeplyNestedNote) {
  constexpr int kDeep = 400'000;
  const std::string nested = std::string(kDeep, '[') + std::string(kDeep, ']');
  for (const char* name : {"Driver", "CUDA Version"}) {
    const std::string note = "{\"" + std::string(name) + "\": " + nested + "}";
    EXPECT_FALSE(is_better_cuda(host_with("550.1", "12.2"), parse_version("550.54.15"), note));
    EXPECT_FALSE(is_better_cuda(host_with("", "12.2"), parse_version("550.54.15"), note));
  }
}

}  // namespace
}  // namespace slipway::hook
