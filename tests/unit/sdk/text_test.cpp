// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <random>

#include <gtest/gtest.h>

#include <slipway/text.hpp>

namespace slipway {
namespace {

using Words = std::vector<std::string>;
using Views = std::vector<std::string_view>;

const Words kKeys{"version", "modules", "source", "precompiled", "driver_root", "mig", "cdi", "gfd"};

/// Returns texts of a few letters and separators, so that they often match.
std::string random_text(std::mt19937& random, std::size_t most) {
  constexpr std::string_view kLetters = "abAB,, \n\t";
  std::string text(std::uniform_int_distribution<std::size_t>(0, most)(random), '\0');
  for (char& c : text) c = kLetters[std::uniform_int_distribution<std::size_t>(0, kLetters.size() - 1)(random)];
  return text;
}

TEST(Trimmed, LeavesOutWhiteSpaceAtBothEndsAlone) {
  EXPECT_EQ(trimmed(" \t\r\n\v\fa b\f\v\n\r\t "), "a b");
  EXPECT_EQ(trimmed(" \n"), "");
  EXPECT_EQ(trimmed(""), "");
}

TEST(Trimmed, ChangesNothingTheSecondTime) {
  std::mt19937 random(1);
  for (int i = 0; i < 1000; ++i) {
    const std::string text = random_text(random, 12);
    EXPECT_EQ(trimmed(trimmed(text)), trimmed(text)) << text;
  }
}

TEST(Split, KeepsEmptyParts) {
  EXPECT_EQ(split("", ','), Words{""});
  EXPECT_EQ(split(",a,,b,", ','), (Words{"", "a", "", "b", ""}));
  EXPECT_EQ(split<std::string_view>("usr/lib", '/'), (Views{"usr", "lib"}));
}

TEST(Split, IsUndoneByJoined) {
  std::mt19937 random(2);
  for (int i = 0; i < 1000; ++i) {
    const std::string text = random_text(random, 20);
    const Words parts = split(text, ',');
    EXPECT_EQ(joined(parts, ","), text);
    EXPECT_EQ(parts.size(), std::count(text.begin(), text.end(), ',') + 1U) << text;
  }
}

TEST(SplitList, TakesTheWordsAlone) {
  EXPECT_EQ(split_list(" a, b c,,\n"), (Words{"a", "b c"}));
  EXPECT_EQ(split_list("a/b/", '/'), (Words{"a", "b"}));
  EXPECT_EQ(split_list(""), Words{});
}

TEST(LinesOf, NeedsNoEndOfTheLastLine) {
  EXPECT_EQ(lines_of(""), Words{});
  EXPECT_EQ(lines_of("\n"), Words{""});
  EXPECT_EQ(lines_of("a\n\nb"), (Words{"a", "", "b"}));
  EXPECT_EQ(lines_of<std::string_view>("a\n\nb\n"), (Views{"a", "", "b"}));
}

TEST(LinesWithEnds, AreTheWholeTextTogether) {
  EXPECT_EQ(lines_with_ends("a\n\nb"), (Views{"a\n", "\n", "b"}));
  std::mt19937 random(3);
  for (int i = 0; i < 1000; ++i) {
    const std::string text = random_text(random, 20);
    EXPECT_EQ(joined(lines_with_ends(text), ""), text);
    EXPECT_EQ(lines_with_ends(text).size(), lines_of(text).size()) << text;
  }
}

TEST(Joined, TakesTheTextOfEachPartFromAFunctionOrAMember) {
  const std::vector<std::pair<std::string, int>> counts{{"gpu", 8}, {"mig", 7}};
  EXPECT_EQ(joined(counts, ", ", &std::pair<std::string, int>::first), "gpu, mig");
  EXPECT_EQ(joined(counts, "; ", [](const auto& count) { return std::to_string(count.second); }), "8; 7");
  EXPECT_EQ(joined(Words{}), "");
}

TEST(Listed, ReadsLikeASentence) {
  EXPECT_EQ(listed({}, "and"), "");
  EXPECT_EQ(listed({"a"}, "and"), "a");
  EXPECT_EQ(listed({"a", "b"}, "or"), "a or b");
  EXPECT_EQ(listed({"a", "b", "c"}, "and"), "a, b and c");
}

TEST(FirstFew, CountsTheOthers) {
  EXPECT_EQ(first_few({"a", "b", "c"}, 3), "a, b, c");
  EXPECT_EQ(first_few({"a", "b", "c"}, 2), "a, b and 1 more");
  EXPECT_EQ(first_few({}, 2), "");
}

TEST(Base64, IsReadWithAndWithoutPadding) {
  EXPECT_EQ(base64_encoded("slipway:geheim"), "c2xpcHdheTpnZWhlaW0=");
  EXPECT_EQ(base64_decoded("c2xpcHdheTpnZWhlaW0="), "slipway:geheim");
  EXPECT_EQ(base64_decoded("c2xpcHdheTpnZWhlaW0"), "slipway:geheim");
  EXPECT_EQ(base64_decoded(""), "");
}

TEST(Base64, TakesNothingElse) {
  for (const char* text : {"!!!!", "c2x=pcHd", "A===", " c2xp", "c2xp\n", "c2-_"})
    EXPECT_FALSE(base64_decoded(text)) << text;
}

TEST(Base64, GoesBothWays) {
  std::mt19937 random(5);
  for (std::size_t size = 0; size < 300; ++size) {
    std::string bytes(size, '\0');
    for (char& c : bytes) c = static_cast<char>(random() & 0xffU);
    EXPECT_EQ(base64_encoded(bytes).size(), (size + 2) / 3 * 4);
    EXPECT_EQ(base64_decoded(base64_encoded(bytes)), bytes);
  }
}

TEST(EditDistance, CountsASwapOfNeighboursOnceAndLetterCaseNotAtAll) {
  EXPECT_EQ(edit_distance("version", "versoin"), 1U);
  EXPECT_EQ(edit_distance("version", "VERSION"), 0U);
  EXPECT_EQ(edit_distance("kitten", "sitting"), 3U);
  EXPECT_EQ(edit_distance("", "abc"), 3U);
}

TEST(EditDistance, IsTheSameInBothDirectionsAndZeroForEqualWords) {
  std::mt19937 random(4);
  for (int i = 0; i < 1000; ++i) {
    const std::string one = random_text(random, 10);
    const std::string other = random_text(random, 10);
    const std::size_t distance = edit_distance(one, other);
    EXPECT_EQ(edit_distance(other, one), distance) << one << " | " << other;
    EXPECT_LE(distance, std::max(one.size(), other.size()));
    EXPECT_GE(distance, std::max(one.size(), other.size()) - std::min(one.size(), other.size()));
    EXPECT_EQ(edit_distance(one, one), 0U);
  }
}

// The table is quadratic, and names come from registries and from specs.
TEST(EditDistance, OfVeryDifferentWordsIsNotComputed) {
  const std::string text(1'000'000, 'v');
  EXPECT_EQ(edit_distance(text, text + "v"), text.size() + 1);
  EXPECT_EQ(edit_distance(text, text), 0U);
}

TEST(NearestWord, FindsTheWordOfATypingMistake) {
  EXPECT_EQ(nearest_word("verson", kKeys), "version");    // left out
  EXPECT_EQ(nearest_word("versionn", kKeys), "version");  // doubled
  EXPECT_EQ(nearest_word("versoin", kKeys), "version");   // swapped
  EXPECT_EQ(nearest_word("Version", kKeys), "version");   // letter case
  EXPECT_EQ(nearest_word("driverRoot", kKeys), "driver_root");
  EXPECT_EQ(nearest_word("mgi", kKeys), "mig");
}

TEST(NearestWord, StaysSilentWhenNothingIsNear) {
  EXPECT_EQ(nearest_word("container", kKeys), "");
  EXPECT_EQ(nearest_word("x", kKeys), "");
  EXPECT_EQ(nearest_word("x", {"y"}), "");
  EXPECT_EQ(nearest_word("", kKeys), "");
  EXPECT_EQ(nearest_word("xyz", kKeys), "");
  EXPECT_EQ(nearest_word(std::string(1'000'000, 'v'), kKeys), "");
}

TEST(NearestWord, OfEverySingleEditOfALongWordIsThatWord) {
  const std::string word = "precompiled";
  for (std::size_t i = 0; i < word.size(); ++i) {
    std::string changed = word, shorter = word;
    changed[i] = '#';
    shorter.erase(i, 1);
    EXPECT_EQ(nearest_word(changed, kKeys), word);
    EXPECT_EQ(nearest_word(shorter, kKeys), word);
    EXPECT_EQ(nearest_word(std::string(word).insert(i, "#"), kKeys), word);
  }
}

TEST(NearestWord, IsNamedInAnError) {
  EXPECT_EQ(did_you_mean("verson", kKeys), "; did you mean 'version'?");
  EXPECT_EQ(did_you_mean("container", kKeys), "");
  EXPECT_EQ(suggestion("verson", kKeys, "write a key"), "did you mean 'version'?");
  EXPECT_EQ(suggestion("container", kKeys, "write a key"), "write a key");
}

TEST(NearestWords, AreSoManyInTheOrderOfTheirDistance) {
  EXPECT_EQ(nearest_words("580.1", {"570.1", "580.2", "580.1-rc", "latest"}, 3), (Words{"570.1", "580.2", "580.1-rc"}));
  EXPECT_EQ(nearest_words("x", {"b", "a"}, 5), (Words{"a", "b"}));
}

}  // namespace
}  // namespace slipway
