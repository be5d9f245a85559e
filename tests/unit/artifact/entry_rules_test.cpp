// SPDX-License-Identifier: Apache-2.0
#include "artifact/io/entry_rules.hpp"

#include <gtest/gtest.h>

namespace slipway::artifact {
namespace {

TEST(EntryName, IsCleanedOfDotsAndDoubleSlashes) {
  EXPECT_EQ(*clean_entry_name("./usr//lib/./libcuda.so"), "usr/lib/libcuda.so");
  EXPECT_EQ(*clean_entry_name("./"), "");
  EXPECT_EQ(*clean_entry_name("usr/lib/"), "usr/lib");
}

TEST(EntryName, IsRefusedWhenItCouldLeadOut) {
  for (const char* name : {"", "/etc/passwd", "..", "../x", "a/../b", "a/..", "./../x", "a/b/../../../x"})
    EXPECT_FALSE(clean_entry_name(name)) << name;
}

TEST(EntryName, IsRefusedWhenItIsTooLongForLinux) {
  EXPECT_TRUE(clean_entry_name(std::string(255, 'a')));
  EXPECT_FALSE(clean_entry_name(std::string(256, 'a')));
  std::string deep;
  for (int i = 0; i < 65; ++i) deep += "d/";
  EXPECT_FALSE(clean_entry_name(deep));
  std::string slashes(5000, '/');
  slashes.front() = 'x';
  EXPECT_FALSE(clean_entry_name(slashes));
}

TEST(EntryName, IsRefusedWhenItDeletesAFileOfAnotherLayer) { EXPECT_FALSE(clean_entry_name("usr/.wh.libcuda.so")); }

TEST(LinkTarget, MayLeadUpToTheLayersRootAndDownAgain) {
  for (const char* target : {"libcuda.so.1", "../lib64/x", "../../etc/x", ".", "../..", "./a/b"}) {
    const auto checked = check_link_target("usr/lib/link", target);
    ASSERT_TRUE(checked) << target;
    EXPECT_TRUE(checked->empty()) << target;
  }
}

TEST(LinkTarget, IsRefusedWhenItLeavesTheLayer) {
  for (const char* target : {"", "/etc/passwd", "../../../etc", "a/../../../../x", "../../a/../../x"})
    EXPECT_FALSE(check_link_target("usr/lib/link", target)) << target;
  EXPECT_FALSE(check_link_target("link", ".."));
}

// a/up -> ../.. is harmless alone; link -> a/up/.. then leads out although the text of the path stays inside.
TEST(LinkTarget, NamesTheFoldersThatMustBeRealBeforeADotDot) {
  EXPECT_EQ(*check_link_target("link", "a/b/../../c"), (std::vector<std::string>{"a/b", "a"}));
  EXPECT_EQ(*check_link_target("d/link", "../e/../f"), (std::vector<std::string>{"e"}));
}

TEST(Mode, IsTakenUnderAFixedUmask) {
  EXPECT_EQ(file_mode(0777), 0755U);
  EXPECT_EQ(file_mode(0666), 0644U);
  EXPECT_EQ(file_mode(0), 0400U);
  EXPECT_EQ(directory_mode(01777), 0755U);
  EXPECT_EQ(directory_mode(0), 0700U);
}

TEST(Mode, IsRefusedWithSetuidOrSetgid) {
  EXPECT_FALSE(check_mode(04755));
  EXPECT_FALSE(check_mode(02755));
  EXPECT_TRUE(check_mode(01755));
}

TEST(PrintableName, EscapesTerminalControls) { EXPECT_EQ(printable("a\x1b[31mb\n\\"), "a\\x1b[31mb\\x0a\\x5c"); }

}  // namespace
}  // namespace slipway::artifact
