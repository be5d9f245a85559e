// SPDX-License-Identifier: Apache-2.0
// The fields that can be selected, and the table of them in the documentation.
#include <fstream>
#include <sstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "dcgm/counters/counters.hpp"

namespace slipway::dcgm {
namespace {

TEST(Fields, CanAllBeSelectedByEachOfTheirNames) {
  EXPECT_GE(field_numbers().size(), 100U);
  for (const unsigned number : field_numbers()) {
    const std::string name = field_name(number);
    EXPECT_EQ(field_number(name), number) << name;
    const std::string type =
        find_field(number)->is_text() ? ", label, h\nDCGM_FI_DEV_GPU_TEMP, gauge, t\n" : ", gauge, h\n";
    const auto counters = parse_counters(name + type, "c.csv");
    ASSERT_TRUE(counters.ok()) << name;
    EXPECT_TRUE(counters->left_out.empty()) << name;
  }
}

TEST(Fields, OfSlipwayCannotBeSelected) {
  EXPECT_NE(find_field(kMemoryTotalBytes), nullptr);
  EXPECT_FALSE(field_number(field_name(kMemoryTotalBytes)));
  EXPECT_EQ(find_field(kOwnFields + 100), nullptr);
}

TEST(Fields, AreInTheDocumentationAsTheyAre) {
  std::ifstream file(SLIPWAY_SOURCE_DIR "/docs/components/dcgm-fields.md");
  std::ostringstream text;
  text << file.rdbuf();
  EXPECT_NE(text.str().find(field_table()), std::string::npos)
      << "write what `slipway dcgm fields` prints into docs/components/dcgm-fields.md";
}

}  // namespace
}  // namespace slipway::dcgm
