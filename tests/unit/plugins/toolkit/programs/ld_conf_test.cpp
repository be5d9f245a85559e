// SPDX-License-Identifier: Apache-2.0
// The parts of an image's linker configuration that the hook reads.
#include "ld_conf.hpp"

#include <gmock/gmock.h>

#include "tests/unit/core/host/open_watch.hpp"
#include "tests/unit/core/host/temp_root.hpp"

namespace slipway::hook {
namespace {

using test::TempRoot;
using ::testing::ElementsAre;

TEST(LinkerConfiguration, IsReadWithItsIncludes) {
  const TempRoot root;
  root.put("/etc/ld.so.conf",
           "/opt/first\ninclude /etc/ld.so.conf.d/*.conf\n"
           "include /etc/ld.so.conf.d/*.conf\n# /opt/comment\n/opt/second\n");
  root.put("/etc/ld.so.conf.d/b.conf", "/opt/b\n");
  root.put("/etc/ld.so.conf.d/a.conf", "/opt/a\n");
  EXPECT_THAT(configured_folders(root.dir()), ElementsAre("/opt/first", "/opt/second", "/opt/a", "/opt/b"));
}

TEST(LinkerConfiguration, ThatIsNotAFileIsNotOpened) {
  const TempRoot root;
  root.put("/etc/ld.so.conf", "include /etc/ld.so.conf.d/*.conf\n");
  root.put("/etc/ld.so.conf.d/b.conf", "/opt/b\n");
  ASSERT_EQ(::mkfifo(root.at("/etc/ld.so.conf.d/a.conf").c_str(), 0644), 0);
  const test::OpenWatch pipe(root.at("/etc/ld.so.conf.d/a.conf"));
  const test::OpenWatch file(root.at("/etc/ld.so.conf.d/b.conf"));
  EXPECT_THAT(configured_folders(root.dir()), ElementsAre("/opt/b"));
  EXPECT_TRUE(file.opened());
  EXPECT_FALSE(pipe.opened());
}

// Before the fix, an image of a few files made the hook take 1.4 GB.
TEST(LinkerConfiguration, ThatIsEndlessIsReadUpToALimit) {
  const TempRoot root;
  std::string includes;
  std::string folders;
  for (int i = 0; i < 30'000; ++i) includes += "include /etc/ld.so.conf.d/*.conf\n";
  for (int i = 0; i < 100'000; ++i) folders += "/opt/" + std::to_string(i) + "\n";
  root.put("/etc/ld.so.conf", includes);
  root.put("/etc/ld.so.conf.d/a.conf", includes);
  root.put("/etc/ld.so.conf.d/b.conf", folders);
  EXPECT_LE(configured_folders(root.dir()).size(), 10'000U);
}

TEST(LinkerConfiguration, OfTooManyIncludesOrBytesIsReadAsFarAsTheLimit) {
  const TempRoot root;
  std::string includes;
  for (int i = 0; i < 1000; ++i) includes += "include /etc/nothing/*.conf\n";
  root.put("/etc/ld.so.conf", "/opt/first\n" + includes + "include /etc/ld.so.conf.d/*.conf\n");
  root.put("/etc/ld.so.conf.d/a.conf", "/opt/a\n");
  EXPECT_THAT(configured_folders(root.dir()), ElementsAre("/opt/first"));
  root.put("/etc/ld.so.conf", "include /etc/ld.so.conf.d/*.conf\n");
  const std::string comment(1'000'000, '#');
  for (int i = 10; i < 30; ++i) root.put("/etc/ld.so.conf.d/b" + std::to_string(i) + ".conf", comment);
  root.put("/etc/ld.so.conf.d/c.conf", "/opt/c\n");
  EXPECT_THAT(configured_folders(root.dir()), ElementsAre("/opt/a"));
}

// A thousand includes of a folder with very many files: each of them is matched a thousand times.
TEST(LinkerConfiguration, OfFoldersWithVeryManyFilesIsReadAsFarAsTheLimit) {
  const TempRoot root;
  std::string includes;
  for (int i = 0; i < 600; ++i) includes += "include /etc/many/*.conf\n";
  root.put("/etc/ld.so.conf", "/opt/first\n" + includes + "include /etc/ld.so.conf.d/*.conf\n");
  root.put("/etc/ld.so.conf.d/a.conf", "/opt/a\n");
  for (int i = 0; i < 200; ++i) root.put("/etc/many/" + std::to_string(i), "");
  EXPECT_THAT(configured_folders(root.dir()), ElementsAre("/opt/first"));
}

}  // namespace
}  // namespace slipway::hook
