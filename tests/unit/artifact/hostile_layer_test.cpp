// SPDX-License-Identifier: Apache-2.0
// Layers that try to do harm: each is refused, says why, and leaves nothing behind.
#include <gtest/gtest.h>
#include <sys/stat.h>

#include "tests/unit/artifact/support/tar_maker.hpp"
#include "tests/unit/artifact/support/temp_dir.hpp"
#include "tests/unit/artifact/support/unpack_helper.hpp"

namespace slipway::artifact {
namespace {

using test::tar_of;
using test::TarHeader;
using test::TempDir;
using test::unpack_bytes;
namespace fs = std::filesystem;

struct Hostile {
  std::string name;  ///< of the case
  std::vector<TarHeader> entries;
  std::string says;  ///< part of the message
};
void PrintTo(const Hostile& one, std::ostream* out) { *out << one.name; }

class HostileLayer : public testing::TestWithParam<Hostile> {};

TEST_P(HostileLayer, IsRefusedAndLeavesNothing) {
  TempDir dir;
  test::write_file(dir / "outside/secret", "secret");
  for (const auto compression : {Compression::none, Compression::zstd}) {
    const auto done = unpack_bytes(dir, test::compress(tar_of(GetParam().entries), compression));
    ASSERT_FALSE(done);
    EXPECT_EQ(done.error().code, ErrorCode::denied) << done.error().what;
    EXPECT_NE(done.error().what.find(GetParam().says), std::string::npos) << done.error().what;
    EXPECT_NE(done.error().what.find("userspace"), std::string::npos) << "names the layer";
    EXPECT_EQ(done.error().where, "/the/layout") << "names the source";
    EXPECT_FALSE(done.error().next.empty());
    EXPECT_FALSE(fs::exists(fs::symlink_status(dir / "out"))) << "nothing is left";
    EXPECT_EQ(test::file_text(dir / "outside/secret"), "secret");
    EXPECT_EQ(std::distance(fs::recursive_directory_iterator(dir.path()), fs::recursive_directory_iterator()), 2);
  }
}

const TarHeader kGood{.name = "good", .content = "good"};
const TarHeader kOut{.name = "d/out", .type = '2', .link = "../../outside"};

INSTANTIATE_TEST_SUITE_P(
    Cases, HostileLayer,
    testing::Values(
        Hostile{"AbsoluteName", {kGood, {.name = "/tmp/slipway-evil"}}, "absolute"},
        Hostile{"DotDotName", {kGood, {.name = "../outside/evil"}}, "'..'"},
        Hostile{"DotDotInside", {{.name = "a/../../outside/evil"}}, "'..'"},
        Hostile{"DotDotByPax", {{.name = "fine", .pax = {{"path", "../outside/evil"}}}}, "'..'"},
        Hostile{"EmptyName", {{.name = ""}}, "empty"}, Hostile{"LinkOut", {kOut}, "out of the layer"},
        Hostile{"LinkAbsolute", {{.name = "l", .type = '2', .link = "/etc/passwd"}}, "absolute"},
        Hostile{
            "LinkAbsoluteByPax", {{.name = "l", .type = '2', .link = "x", .pax = {{"linkpath", "/etc"}}}}, "absolute"},
        Hostile{"WriteThroughLink",
                {{.name = "d", .type = '5'}, {.name = "l", .type = '2', .link = "d"}, {.name = "l/evil"}},
                "'l', which is not a folder"},
        Hostile{"FolderThroughLink",
                {{.name = "d", .type = '5'}, {.name = "l", .type = '2', .link = "d"}, {.name = "l/", .type = '5'}},
                "not a folder"},
        Hostile{"WriteOverLink",
                {{.name = "l", .type = '2', .link = "x"}, {.name = "l", .content = "evil"}},
                "occurs twice"},
        Hostile{
            "LinkBackThroughLink",
            {{.name = "a/b/up", .type = '2', .link = "../.."}, {.name = "l", .type = '2', .link = "a/b/up/../outside"}},
            "'a/b/up', which is not a folder"},
        Hostile{"LinkBackThroughNothing", {{.name = "l", .type = '2', .link = "later/../x"}}, "not a folder"},
        Hostile{"HardLinkOut", {{.name = "h", .type = '1', .link = "../outside/secret"}}, "'..'"},
        Hostile{"HardLinkAbsolute", {{.name = "h", .type = '1', .link = "/etc/passwd"}}, "absolute"},
        Hostile{"HardLinkToNothing", {{.name = "h", .type = '1', .link = "missing"}}, "not a file of this layer"},
        Hostile{"HardLinkToLink",
                {{.name = "l", .type = '2', .link = "x"}, {.name = "h", .type = '1', .link = "l"}},
                "not a file of this layer"},
        Hostile{"HardLinkThroughLink",
                {{.name = "d/f"}, {.name = "l", .type = '2', .link = "d"}, {.name = "h", .type = '1', .link = "l/f"}},
                "not a folder"},
        Hostile{"FileTwice", {kGood, kGood}, "occurs twice"},
        Hostile{"FileTwiceOtherSpelling", {kGood, {.name = ".//good", .content = "bad"}}, "occurs twice"},
        Hostile{"FolderTwice", {{.name = "d/", .type = '5'}, {.name = "d", .type = '5'}}, "occurs twice"},
        Hostile{"FileBelowFile", {kGood, {.name = "good/below"}}, "not a folder"},
        Hostile{"FileOverFolder", {{.name = "d/x"}, {.name = "d"}}, "occurs twice"},
        Hostile{"RootIsAFile", {{.name = "."}}, "root"},
        Hostile{"CharacterDevice", {{.name = "null", .type = '3'}}, "a character device"},
        Hostile{"BlockDevice", {{.name = "sda", .type = '4'}}, "a block device"},
        Hostile{"Fifo", {{.name = "pipe", .type = '6'}}, "a FIFO"},
        Hostile{"Setuid", {{.name = "su", .content = "x", .mode = 04755}}, "setuid"},
        Hostile{"Setgid", {{.name = "sg", .content = "x", .mode = 02755}}, "setgid"},
        Hostile{
            "Capabilities", {{.name = "cap", .pax = {{"SCHILY.xattr.security.capability", "0sAAAA"}}}}, "capabilities"},
        Hostile{"Whiteout", {{.name = "usr/.wh.lib"}}, "deletes"},
        Hostile{"SparseBomb",
                {{.name = "s",
                  .content = std::string("1\n0\n0\n") + std::string(506, '\0'),
                  .pax = {{"GNU.sparse.major", "1"},
                          {"GNU.sparse.minor", "0"},
                          {"GNU.sparse.name", "s"},
                          {"GNU.sparse.realsize", "1125899906842624"}}}},
                "exceeds the limit"}),
    [](const auto& one) { return one.param.name; });

TEST(HostileSize, AZipBombIsStoppedAtItsAnnouncedSize) {
  TempDir dir;
  const std::string tar = tar_of({{.name = "zeros", .content = std::string(8U << 20, '\0')}});
  const std::string packed = test::compress(tar, Compression::zstd);
  EXPECT_TRUE(unpack_bytes(dir, packed, {}, tar.size()));
  TempDir second;
  const auto done = unpack_bytes(second, packed, {}, tar.size() / 2);
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().code, ErrorCode::denied);
  EXPECT_FALSE(fs::exists(second / "out"));
}

TEST(HostileSize, AZipBombWithoutAnAnnouncedSizeIsStoppedByItsRatio) {
  TempDir dir;
  const std::string packed =
      test::compress(tar_of({{.name = "zeros", .content = std::string(300U << 20, '\0')}}), Compression::zstd);
  ASSERT_LT(packed.size(), 1U << 20);
  const auto done = unpack_bytes(dir, packed);
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().code, ErrorCode::denied);
  EXPECT_NE(done.error().what.find("268435456"), std::string::npos) << done.error().what;
  EXPECT_FALSE(fs::exists(dir / "out"));
}

TEST(HostileSize, PaddingAfterTheArchiveCountsToo) {
  TempDir dir;
  const std::string tar = tar_of({{.name = "x"}}) + std::string(300U << 20, '\0');
  const auto done = unpack_bytes(dir, test::compress(tar, Compression::zstd));
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().code, ErrorCode::denied);
  EXPECT_FALSE(fs::exists(dir / "out"));
}

TEST(HostileSize, TooManyEntriesAreRefused) {
  TempDir dir;
  std::vector<TarHeader> entries;
  for (int i = 0; i < 11; ++i) entries.push_back({.name = "f" + std::to_string(i)});
  UnpackOptions options = test::options_for(dir);
  options.max_entries = 10;
  const auto done = unpack_bytes(dir, tar_of(entries), options);
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().code, ErrorCode::denied);
  EXPECT_FALSE(fs::exists(dir / "out"));
}

}  // namespace
}  // namespace slipway::artifact
