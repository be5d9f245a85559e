// SPDX-License-Identifier: Apache-2.0
#include "cli/render/page.hpp"

#include <gmock/gmock.h>

namespace slipway::cli {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

TEST(Page, HasColoursWhereTheTerminalShowsThem) {
  Page page;
  page << "driver: " << Toned{Tone::bad, "failed"} << " (see " << Toned{Tone::plain, "below"} << ")\n";
  EXPECT_EQ(page.text(0, false), "driver: failed (see below)\n");
  EXPECT_EQ(page.text(0, true), "driver: \033[31mfailed\033[0m (see below)\n");
}

TEST(Page, EscapesForeignColoursAndCursorMoves) {
  Page page;
  page << "a\033[31mred\x0e"
          "bx\x0f\x11z"
       << Toned{Tone::good, "good\033[2J"} << "\n";
  const std::string shown = page.text(40, true);
  EXPECT_THAT(shown, HasSubstr("a\\x1b[31mred\\x0ebx\\x0f\\x11z\033[32mgood\\x1b[2J\033[0m\n"));
  EXPECT_THAT(page.text(40, false), Not(HasSubstr("\033")));
}

TEST(Page, BreaksLinesAsIfColoursWereNotThere) {
  const std::string text = "  + create /etc/ld.so.conf.d/x.conf  # programs find the libraries";
  Page page;
  page << "  " << Toned{Tone::good, "+"} << " create /etc/ld.so.conf.d/x.conf  "
       << Toned{Tone::faint, "# programs find the libraries"};
  EXPECT_EQ(page.text(40, false), Page(text).text(40, false));
  EXPECT_THAT(page.text(40, true), HasSubstr("\n      \033[2m# programs find the libraries\033[0m"));
}

TEST(Page, EscapesForeignLineEndsAndDirectionMarks) {
  Page page;
  page << std::string("x\nNext") << " \n" << Toned{Tone::bad, "y\nz"} << std::string("\xe2\x80\xae");
  EXPECT_EQ(page.text(0, false), "x\\nNext \ny\\nz\\xe2\\x80\\xae");
}

TEST(Page, HasTablesWhoseLastCellContinuesBelowItself) {
  Page page;
  page.table({{{Tone::heading, "COMPONENT"}, {Tone::heading, "AGE"}, {Tone::heading, "STATE"}},
              {{Tone::plain, "cdi"}, {Tone::plain, "3 h"}, {Tone::good, "applied"}},
              {{Tone::plain, "gfd"}, {}, {Tone::plain, "the service does not run, as it was killed"}},
              {{Tone::plain, "a word that goes on into the columns behind it"}}},
             2);
  EXPECT_EQ(page.text(40, false),
            "  COMPONENT  AGE  STATE\n"
            "  cdi        3 h  applied\n"
            "  gfd             the service does not\n"
            "                  run, as it was killed\n"
            "  a word that goes on into the columns\n"
            "  behind it\n");
  EXPECT_THAT(page.text(0, true), HasSubstr("  cdi        3 h  \033[32mapplied\033[0m\n"));
}

TEST(Page, OfForeignCellsKeepsEachInItsLine) {
  Page page;
  page.table({{{Tone::plain, "a\nb"}, {Tone::plain, "c"}}, {{Tone::plain, "\xc3\xa4"}, {Tone::plain, "d"}}});
  EXPECT_EQ(page.text(40, false), "a\\nb  c\n\xc3\xa4     d\n");
}

}  // namespace
}  // namespace slipway::cli
