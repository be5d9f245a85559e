// SPDX-License-Identifier: Apache-2.0
#include <cstdlib>

#include <gmock/gmock.h>
#include <unistd.h>

#include "cli/render/text.hpp"

namespace slipway::cli {
namespace {

TEST(LinesForPeople, StayWholeWhereTheyFit) {
  EXPECT_EQ(wrapped("driver: 1 change\n  + create /etc/a\n", 40), "driver: 1 change\n  + create /etc/a\n");
  EXPECT_EQ(wrapped("", 40), "");
  EXPECT_EQ(wrapped("\n\n", 40), "\n\n");
}

TEST(LinesForPeople, ContinueBelowBetweenWordsAndIndented) {
  EXPECT_EQ(wrapped("  + create /etc/ld.so.conf.d/x.conf  # programs find the libraries\nnext\n", 40),
            "  + create /etc/ld.so.conf.d/x.conf\n      # programs find the libraries\nnext\n");
}

// Before the fix, a broken command could not be copied; the terminal itself breaks a line that is too long.
TEST(LinesForPeople, KeepACommandInBackquotesWhole) {
  EXPECT_EQ(wrapped("the images differ, so run `slipway apply --root r` again", 40),
            "the images differ, so run\n    `slipway apply --root r` again");
  EXPECT_EQ(wrapped("run (`slipway apply --root /a/long/folder --sim h100x8`) now", 40),
            "run\n    (`slipway apply --root /a/long/folder --sim h100x8`)\n    now");
  EXPECT_EQ(wrapped("an odd ` among words that go on behind it", 40), "an odd ` among words that go on behind\n    it");
}

TEST(TextsThatAreCut, EndAfterACommandAndNotInsideIt) {
  EXPECT_EQ(cut_at_word("one two three", 9), "one two …");
  EXPECT_EQ(cut_at_word("reset it (`slipway pause -- reset 3`), or reboot it", 20),
            "reset it (`slipway pause -- reset 3`), …");
  EXPECT_EQ(cut_at_word("reset it (`slipway pause -- reset 3`)", 20), "reset it (`slipway pause -- reset 3`)");
  EXPECT_EQ(cut_at_word("an odd ` among words that go on", 18), "an odd ` among …");
  EXPECT_EQ(cut_at_word("see `" + std::string(3000, 'x') + " " + std::string(3000, 'x') + "` now", 3010), "see …");
}

TEST(LinesForPeople, BreakALongPathAfterASlash) {
  EXPECT_EQ(wrapped("link a -> ../slipway/store/driver/current/userspace/usr/lib/libcuda.so.1", 40),
            "link a ->\n    ../slipway/store/driver/current/\n    userspace/usr/lib/libcuda.so.1");
}

TEST(LinesForPeople, KeepTheirGaps) {
  EXPECT_EQ(wrapped("  pass  driver.installed: driver 535.261.03 is installed", 40),
            "  pass  driver.installed: driver\n      535.261.03 is installed");
}

TEST(LinesForPeople, BreakALongKeyAfterADot) {
  EXPECT_EQ(wrapped("plugins.\"io.containerd.grpc.v1.cri\".containerd.runtimes.nvidia.runtime_type", 40),
            "plugins.\"io.containerd.grpc.v1.cri\".\n    containerd.runtimes.nvidia.\n    runtime_type");
}

TEST(LinesForPeople, LeaveAWordWholeThatCannotBeBroken) {
  const std::string word(60, 'x');
  EXPECT_EQ(wrapped("a " + word + " b", 40), "a\n    " + word + "\n    b");
}

TEST(LinesForPeople, CountCharactersAndNotBytes) {
  const std::string line = "“… … … … … … … … … … … … … … … … … … …”";  // 39 characters in many more bytes
  EXPECT_EQ(wrapped(line, 40), line);
}

TEST(ColumnsForPeople, AreUnlimitedForPrograms) {
  ::unsetenv("SLIPWAY_COLUMNS");
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  EXPECT_EQ(columns_of(ends[1]), 0U);
  EXPECT_EQ(wrapped(std::string(50, 'a') + " " + std::string(50, 'b'), 0),
            std::string(50, 'a') + " " + std::string(50, 'b'));
  ::setenv("SLIPWAY_COLUMNS", "80", 1);
  EXPECT_EQ(columns_of(ends[1]), 80U);
  for (const char* nonsense : {"", "x", "80x", "-1", "3"}) {
    ::setenv("SLIPWAY_COLUMNS", nonsense, 1);
    EXPECT_EQ(columns_of(ends[1]), 0U) << nonsense;
  }
  ::unsetenv("SLIPWAY_COLUMNS");
  ::close(ends[0]);
  ::close(ends[1]);
}

}  // namespace
}  // namespace slipway::cli
