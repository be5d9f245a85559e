// SPDX-License-Identifier: Apache-2.0
#include "driver/coming/list_reader.hpp"

#include <gmock/gmock.h>

#include "driver/coming/version_order.hpp"
#include "tests/unit/plugins/driver/compressed.hpp"

namespace slipway::driver {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr EntryForm kByEmptyLine{"\n\n"};

Result<std::vector<std::string>> entries_of(const std::string& bytes, const ListLimits& limits = {}) {
  std::vector<std::string> entries;
  SLIPWAY_CHECK(read_entries(bytes, "/lists/one", kByEmptyLine, limits, [&](std::string_view entry) -> Status {
    entries.emplace_back(entry);
    return {};
  }));
  return entries;
}

TEST(ListReader, ReadsPlainListsAndThoseOfEachCompressionThatAptAndDnfUse) {
  EXPECT_THAT(entries_of("a: 1\nb: 2\n\na: 3\n\n").value(), ElementsAre("a: 1\nb: 2", "a: 3"));
  EXPECT_THAT(entries_of("").value(), ElementsAre());
  for (const char* filter : {"gzip", "xz", "zstd", "lz4", "bzip2"})
    EXPECT_THAT(entries_of(testing::compressed("a: 1\n\na: 2\n", filter)).value(), ElementsAre("a: 1", "a: 2\n"))
        << filter;
}

TEST(ListReader, FindsEntriesThatAreInTwoBlocks) {
  std::string text;
  for (int i = 0; i < 40'000; ++i) text += "name: package-" + std::to_string(i) + "\n\n";
  EXPECT_GT(text.size(), 600'000U);
  const auto entries = entries_of(testing::compressed(text, "xz"));
  ASSERT_TRUE(entries);
  ASSERT_EQ(entries->size(), 40'000U);
  EXPECT_EQ(entries->back(), "name: package-39999");
}

TEST(ListReader, RefusesBrokenAndHugeListsWithTheirName) {
  std::string cut = testing::compressed(std::string(100'000, 'x') + "\n\n", "xz");
  cut.resize(cut.size() / 2);
  const auto broken = entries_of(cut);
  ASSERT_FALSE(broken);
  EXPECT_THAT(to_text(broken.error()), AllOf(HasSubstr("compression is broken"), HasSubstr("/lists/one")));
  ListLimits limits;
  limits.unpacked_bytes = std::size_t{2} << 20U;
  const auto bomb = entries_of(testing::compressed(std::string(std::size_t{8} << 20U, '\n'), "xz"), limits);
  ASSERT_FALSE(bomb);
  EXPECT_THAT(to_text(bomb.error()), HasSubstr("it is larger than 2 MiB"));
  limits = {};
  limits.entry_bytes = std::size_t{1} << 20U;
  const auto entry = entries_of(std::string(std::size_t{2} << 20U, 'x'), limits);
  ASSERT_FALSE(entry);
  EXPECT_THAT(to_text(entry.error()), HasSubstr("an entry is longer than 1 MiB"));
  limits = {};
  limits.until = {};
  EXPECT_EQ(entries_of("a: 1\n\n", limits).error().code, ErrorCode::timed_out);
}

TEST(VersionOrder, OfDebIsThatOfDpkg) {
  EXPECT_EQ(compare_deb_versions("6.1.176-1", "6.1.192-2"), -1);
  EXPECT_EQ(compare_deb_versions("6.1.9-1", "6.1.10-1"), -1);
  EXPECT_EQ(compare_deb_versions("1:1.0", "2.0"), 1);
  EXPECT_EQ(compare_deb_versions("6.12~rc1-1", "6.12-1"), -1);
  EXPECT_EQ(compare_deb_versions("6.12.43-1~bpo12+1", "6.12.43-1"), -1);
  EXPECT_EQ(compare_deb_versions("6.8.0-50.51", "6.8.0-50.51"), 0);
  EXPECT_EQ(compare_deb_versions("1.0+b", "1.0a"), 1);
}

TEST(VersionOrder, OfRpmIsThatOfRpm) {
  EXPECT_EQ(compare_rpm_versions("503.11.1.el9_5", "503.el9"), 1) << "a number is newer than letters";
  EXPECT_EQ(compare_rpm_versions("570.12.1.el9_6", "503.40.1.el9_5"), 1);
  EXPECT_EQ(compare_rpm_versions("1.0~rc1", "1.0"), -1);
  EXPECT_EQ(compare_rpm_versions("1.0^git1", "1.0"), 1);
  EXPECT_EQ(compare_rpm_versions("1.0^git1", "1.0.1"), -1);
  EXPECT_EQ(compare_rpm_versions("1.001", "1.1"), 0);
}

}  // namespace
}  // namespace slipway::driver
