// SPDX-License-Identifier: Apache-2.0
#include <cstdlib>

#include <gtest/gtest.h>

#include <slipway/text/display.hpp>

namespace slipway {
namespace {

TEST(LocaleIsUtf8, ByTheFirstVariableThatIsSet) {
  for (const char* name : {"LC_ALL", "LC_CTYPE", "LANG"}) ::unsetenv(name);
  EXPECT_FALSE(locale_is_utf8());
  ::setenv("LANG", "de_DE.utf8", 1);
  EXPECT_TRUE(locale_is_utf8());
  ::setenv("LC_CTYPE", "", 1);
  EXPECT_TRUE(locale_is_utf8());
  ::setenv("LC_ALL", "C", 1);
  EXPECT_FALSE(locale_is_utf8());
  ::setenv("LC_ALL", "C.UTF-8", 1);
  EXPECT_TRUE(locale_is_utf8());
  for (const char* name : {"LC_ALL", "LANG", "LC_CTYPE"}) ::unsetenv(name);
}

TEST(Folded, BreaksBetweenWordsAndContinuesBelow) {
  EXPECT_EQ(folded("one two three", 9, 2, 0), "one two\n  three\n");
  EXPECT_EQ(folded("one two three", 9, 4, 4), "one\n    two\n    three\n");
  EXPECT_EQ(folded("one", 80, 4, 4), "one\n");
  EXPECT_EQ(folded("", 80, 4, 4), "\n");
}

TEST(Folded, LeavesAWordWholeThatFitsOnNoLine) {
  EXPECT_EQ(folded("a 0123456789 b", 8, 2, 0), "a\n  0123456789\n  b\n");
  EXPECT_EQ(folded("0123456789", 8, 2, 0), "0123456789\n");
  EXPECT_EQ(folded("01234567", 10, 2, 6), "\n  01234567\n") << "it fits below";
}

TEST(XmlText, IsTheSameTextInsideAnElement) {
  EXPECT_EQ(xml_text("<a href=\"b\">&\n"), "&lt;a href=&quot;b&quot;&gt;&amp;?");
}

}  // namespace
}  // namespace slipway
