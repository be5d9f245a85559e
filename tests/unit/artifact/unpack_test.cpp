// SPDX-License-Identifier: Apache-2.0
#include "artifact/unpack/unpack.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include "tests/unit/artifact/support/tar_maker.hpp"
#include "tests/unit/artifact/support/temp_dir.hpp"
#include "tests/unit/artifact/support/unpack_helper.hpp"

namespace slipway::artifact {
namespace {

using test::tar_of;
using test::TempDir;
using test::unpack_bytes;
namespace fs = std::filesystem;

TEST(Unpack, MakesFilesFoldersAndLinksWithModesAndTimes) {
  TempDir dir;
  const auto done = unpack_bytes(dir, tar_of({{.name = "./", .type = '5', .mode = 0700, .mtime = 5},
                                              {.name = "usr/lib/", .type = '5', .mode = 0777, .mtime = 1'000},
                                              {.name = "usr/lib/libcuda.so.1", .content = "cuda", .mode = 0777},
                                              {.name = "usr/lib/libcuda.so", .type = '2', .link = "libcuda.so.1"},
                                              {.name = "usr/bin/tool", .type = '1', .link = "usr/lib/libcuda.so.1"}}));
  ASSERT_TRUE(done) << done.error().what;
  EXPECT_EQ(done->files, 3U);
  EXPECT_EQ(done->bytes, 4U);
  EXPECT_EQ(test::file_text(dir / "out/usr/lib/libcuda.so"), "cuda");
  EXPECT_EQ(fs::hard_link_count(dir / "out/usr/bin/tool"), 2U);
  struct stat existing {};
  ASSERT_EQ(::stat((dir / "out/usr/lib").c_str(), &existing), 0);
  EXPECT_EQ(existing.st_mode & 07777, 0755U);
  EXPECT_EQ(existing.st_mtime, 1'000) << "set last, after the files in it were made";
  ASSERT_EQ(::stat((dir / "out/usr").c_str(), &existing), 0);
  EXPECT_EQ(existing.st_mtime, 0) << "a folder without an entry has a fixed time";
  ASSERT_EQ(::stat((dir / "out/usr/lib/libcuda.so.1").c_str(), &existing), 0);
  EXPECT_EQ(existing.st_mode & 07777, 0755U);
  EXPECT_EQ(existing.st_mtime, 1'600'000'000);
  EXPECT_EQ(existing.st_uid, ::geteuid()) << "the archive's owner does not arrive";
  ASSERT_EQ(::stat((dir / "out").c_str(), &existing), 0);
  EXPECT_EQ(existing.st_mode & 07777, 0700U);
  EXPECT_EQ(existing.st_mtime, 5);
}

TEST(Unpack, ClampsTimesToSourceDateEpoch) {
  TempDir dir;
  UnpackOptions options = test::options_for(dir);
  options.newest_mtime = 1'000;
  const auto done =
      unpack_bytes(dir, tar_of({{.name = "old", .mtime = 999}, {.name = "new", .mtime = 1'001}}), options);
  ASSERT_TRUE(done) << done.error().what;
  struct stat existing {};
  ASSERT_EQ(::stat((dir / "out/old").c_str(), &existing), 0);
  EXPECT_EQ(existing.st_mtime, 999);
  ASSERT_EQ(::stat((dir / "out/new").c_str(), &existing), 0);
  EXPECT_EQ(existing.st_mtime, 1'000);
}

TEST(Unpack, ReadsEveryCompression) {
  std::string content;
  for (unsigned i = 0; i < 700'000; ++i) content += static_cast<char>((i * i) >> 7);
  const std::string tar = tar_of({{.name = "big", .content = content}, {.name = "small", .content = "s"}});
  for (const auto compression : {Compression::none, Compression::zstd, Compression::gzip, Compression::xz}) {
    TempDir dir;
    const auto done = unpack_bytes(dir, test::compress(tar, compression));
    ASSERT_TRUE(done) << to_string(compression) << ": " << done.error().what;
    EXPECT_EQ(test::file_text(dir / "out/big"), content) << to_string(compression);
    EXPECT_EQ(test::file_text(dir / "out/small"), "s");
  }
}

TEST(Unpack, TakesNamesThatNeedPaxHeaders) {
  TempDir dir;
  const std::string name = "usr/share/" + std::string(120, 'n') + "/größe";
  const auto done = unpack_bytes(dir, tar_of({{.name = "short", .content = "x", .pax = {{"path", name}}}}));
  ASSERT_TRUE(done) << done.error().what;
  EXPECT_EQ(test::file_text(dir / ("out/" + name)), "x");
}

TEST(Unpack, KeepsTheHolesOfASparseFile) {
  TempDir dir;
  // GNU.sparse 1.0: the map ("1 piece: at 1 MiB, 5 bytes") is the first block of the data.
  std::string map = "1\n1048576\n5\n";
  map.resize(512, '\0');
  const auto done = unpack_bytes(dir, tar_of({{.name = "GNUSparseFile.0/holes",
                                               .content = map + "hello",
                                               .pax = {{"GNU.sparse.major", "1"},
                                                       {"GNU.sparse.minor", "0"},
                                                       {"GNU.sparse.name", "holes"},
                                                       {"GNU.sparse.realsize", "2097152"}}}}));
  ASSERT_TRUE(done) << done.error().what;
  const std::string text = test::file_text(dir / "out/holes");
  EXPECT_EQ(text.size(), 2097152U);
  EXPECT_EQ(text.substr(1048576, 5), "hello");
}

TEST(Unpack, RefusesAFolderThatHasSomethingInIt) {
  TempDir dir;
  test::write_file(dir / "out/mine", "keep");
  const auto done = unpack_bytes(dir, tar_of({{.name = "x"}}));
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().code, ErrorCode::conflict);
  EXPECT_EQ(test::file_text(dir / "out/mine"), "keep");
}

TEST(Unpack, SaysThatTheFolderAboveIsMissing) {
  TempDir dir;
  UnpackOptions options = test::options_for(dir);
  options.into = dir / "no/such/folder";
  const auto done = unpack_bytes(dir, tar_of({{.name = "x"}}), options);
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().code, ErrorCode::not_found);
}

TEST(Unpack, SaysBeforehandThatTheDiskIsTooSmall) {
  TempDir dir;
  const auto done = unpack_bytes(dir, tar_of({{.name = "x"}}), test::options_for(dir), 1ULL << 60);
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().code, ErrorCode::no_space);
  EXPECT_FALSE(fs::exists(dir / "out"));
}

}  // namespace
}  // namespace slipway::artifact
