// SPDX-License-Identifier: Apache-2.0
#include "core/action/file/text_diff.hpp"

#include <random>

#include <gmock/gmock.h>

namespace slipway::core {
namespace {

using ::testing::HasSubstr;

/// Applies a diff the way patch(1) does with exact context.
std::string patched(const std::string& before, const std::string& diff) {
  std::vector<std::string> lines;
  for (std::size_t at = 0; at < before.size();) {
    const std::size_t end = std::min(before.find('\n', at), before.size() - 1) + 1;
    lines.push_back(before.substr(at, end - at));
    at = end;
  }
  std::string result;
  std::size_t next = 0;
  std::istringstream in(diff);
  std::string line;
  std::getline(in, line);
  std::getline(in, line);
  while (std::getline(in, line)) {
    if (line.starts_with("@@ -")) {
      std::size_t start = std::stoul(line.substr(4));
      const bool none = line.find(",0 +") != std::string::npos;
      if (!none) --start;
      while (next < start) result += lines.at(next++);
    } else if (line[0] == '\\') {
      result.pop_back();
    } else if (line[0] == '-') {
      EXPECT_EQ(lines.at(next).substr(0, line.size() - 1), line.substr(1));
      ++next;
    } else if (line[0] == ' ') {
      result += lines.at(next++);
    } else {
      result += line.substr(1) + "\n";
    }
  }
  while (next < lines.size()) result += lines[next++];
  return result;
}

TEST(TextDiff, ShowsChangesWithThreeLinesAround) {
  EXPECT_EQ(unified_diff("/f", "1\n2\n3\n4\n5\n6\n7\n8\n9\n", "1\n2\n3\n4\nfive\n6\n7\n8\n9\n"),
            "--- /f\n+++ /f (planned)\n@@ -2,7 +2,7 @@\n 2\n 3\n 4\n-5\n+five\n 6\n 7\n 8\n");
}

TEST(TextDiff, IsEmptyForEqualTextsAndForBinaries) {
  EXPECT_EQ(unified_diff("/f", "a\n", "a\n"), "");
  EXPECT_EQ(unified_diff("/f", std::string("a\0b", 3), "a\n"), "");
}

TEST(TextDiff, SaysWhenThereIsNoNewlineAtTheEnd) {
  EXPECT_THAT(unified_diff("/f", "a", "b\n"), HasSubstr("-a\n\\ No newline at end of file\n+b\n"));
}

TEST(TextDiff, IsCutAfterTheLimitAndSaysSo) {
  std::string many;
  for (int i = 0; i < 500; ++i) many += "line\n";
  const std::string diff = unified_diff("/f", "", many, 10);
  EXPECT_EQ(std::count(diff.begin(), diff.end(), '\n'), 11);
  EXPECT_THAT(diff, HasSubstr("… 493 more lines\n"));
}

TEST(TextDiff, PatchesTheOldTextIntoTheNewOne) {
  std::mt19937 random(1);
  for (int round = 0; round < 500; ++round) {
    const auto text = [&] {
      std::string made;
      const int lines = static_cast<int>(random() % 30);
      for (int i = 0; i < lines; ++i) made += std::string(1, static_cast<char>('a' + random() % 4)) + "\n";
      return made;
    };
    const std::string before = text();
    const std::string after = text();
    const std::string diff = unified_diff("/f", before, after, 100000);
    EXPECT_EQ(patched(before, diff), after) << before << "=>\n" << after << "diff:\n" << diff;
  }
}

TEST(TextDiff, HandlesTextsWithNothingInCommon) {
  std::string before;
  std::string after;
  for (int i = 0; i < 3000; ++i) {
    before += "b" + std::to_string(i) + "\n";
    after += "a" + std::to_string(i) + "\n";
  }
  EXPECT_EQ(patched(before, unified_diff("/f", before, after, 100000)), after);
}

}  // namespace
}  // namespace slipway::core
