// SPDX-License-Identifier: Apache-2.0
#include "driver/build/deb.hpp"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <random>

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "tests/unit/plugins/driver/test_deb.hpp"
#include "tests/unit/plugins/driver/test_host.hpp"

namespace slipway::driver {
namespace {

using slipway::testing::TempDir;
using testing::content_of;
using ::testing::ElementsAre;
using testing::TestDeb;

constexpr std::identity kSamePath{};

TEST(Deb, HasNameVersionAndDependencies) {
  const TempDir folder;
  const auto info = read_deb_info(
      TestDeb{.package = "a", .version = "1:535.261.03-1~deb12u1", .depends = "b (= 1) | c, d:any, e [amd64]"}.write(
          folder.string()));
  ASSERT_TRUE(info) << to_text(info.error());
  EXPECT_EQ(info->package, "a");
  EXPECT_EQ(info->upstream_version(), "535.261.03");
  EXPECT_EQ(info->architecture, "amd64");
  EXPECT_THAT(info->depends, ElementsAre("b", "d", "e"));
}

TEST(Deb, MayDependOnTensOfThousandsOfPackages) {
  const TempDir folder;
  std::string depends = "first (= 1:2-3), second:any (= 4), third (>= 5), fourth | fifth (= 6)";
  while (depends.size() < 900'000) depends += ", package (= 1.2.3-4)";
  const auto info = read_deb_info(TestDeb{.package = "a", .depends = depends}.write(folder.string()));
  ASSERT_TRUE(info) << to_text(info.error());
  EXPECT_EQ(info->exactly,
            (std::map<std::string, std::string>{{"first", "1:2-3"}, {"second", "4"}, {"package", "1.2.3-4"}}));
}

TEST(Deb, WithAControlArchiveThatIsABombIsRefused) {
  const TempDir folder;
  const TestDeb deb{.package = "a", .scripts = {{.path = "./postinst", .content = std::string(65U << 20, ' ')}}};
  const auto info = read_deb_info(deb.write(folder.string(), "gzip"));
  ASSERT_FALSE(info);
  EXPECT_THAT(info.error().what, ::testing::HasSubstr("more than 64 MiB"));
}

TEST(Deb, WithDataThatAreABombIsRefused) {
  const TempDir folder;
  TestDeb deb{.package = "a", .entries = {{.path = "./bomb", .content = std::string(65U << 20, ' ')}}};
  const auto refused = unpack_deb(deb.write(folder.string(), "zstd"), folder.at("/out").string(), kSamePath);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::corrupt);
  EXPECT_THAT(refused.error().what, ::testing::HasSubstr("its files take more than 64 MiB"));
  EXPECT_FALSE(std::filesystem::exists(folder.at("/out/bomb")));
  deb.fields = "Installed-Size: 66560\n";
  EXPECT_TRUE(unpack_deb(deb.write(folder.string(), "zstd"), folder.at("/out").string(), kSamePath))
      << "a large package that says so is none";
}

// Files that are left out are still read, and their names are kept.
TEST(Deb, WithVeryManyFilesOrNamesIsRefusedThoughAllAreLeftOut) {
  const TempDir folder;
  const auto nowhere = [](const std::string&) { return std::string(); };
  std::vector<std::string> left_out;
  const TestDeb many{.package = "a", .entries = std::vector<testing::DebEntry>(100'001, {.path = "./x"})};
  EXPECT_THAT(
      unpack_deb(many.write(folder.string(), "zstd"), folder.at("/out").string(), nowhere, &left_out).error().what,
      ::testing::HasSubstr("more than 100000 files"));
  left_out.clear();
  const std::string name = "./" + std::string(2000, 'n');
  const TestDeb names{.package = "b", .entries = std::vector<testing::DebEntry>(10'000, {.path = name})};
  EXPECT_THAT(
      unpack_deb(names.write(folder.string(), "zstd"), folder.at("/out").string(), nowhere, &left_out).error().what,
      ::testing::HasSubstr("the names of its files"));
}

// libarchive would start lrzip, found in PATH, for such data.
TEST(Deb, RunsNoProgramForDataThatADebCannotHave) {
  const TempDir folder;
  const std::string marker = folder.at("ran").string();
  folder.file("bin/lrzip", "#!/bin/sh\n: >" + marker + "\n");
  std::filesystem::permissions(folder.at("bin/lrzip"), std::filesystem::perms::owner_all);
  std::string data = "LRZI";
  data += std::string("\0\6", 2) + std::string(58, '\0');
  const std::string file = folder.at("a.deb").string();
  std::ofstream(file, std::ios::binary) << "!<arch>\n"
                                        << fmt::format("{:<16}{:<12}{:<6}{:<6}{:<8}{:<10}`\n", "data.tar.lrz", 0, 0, 0,
                                                       100644, data.size())
                                        << data;
  const std::string path = std::getenv("PATH");
  ::setenv("PATH", folder.at("bin").c_str(), 1);
  const auto done = unpack_deb(file, folder.at("out").string(), kSamePath);
  ::setenv("PATH", path.c_str(), 1);
  EXPECT_FALSE(done);
  EXPECT_FALSE(std::filesystem::exists(marker));
}

TEST(Deb, IsUnpackedForAnyCompression) {
  for (const auto* filter : {"xz", "zstd", "gzip"}) {
    const TempDir folder;
    const auto file = TestDeb{.package = "a",
                              .entries = {{.path = "./usr/bin/tool", .content = "text", .mode = 04755},
                                          {.path = "./usr/bin/link", .link = "tool"},
                                          {.path = "./usr/bin/other", .hardlink = "./usr/bin/tool"}}}
                          .write(folder.string(), filter);
    const auto done = unpack_deb(file, folder.string() + "/out", kSamePath);
    ASSERT_TRUE(done) << filter << to_text(done.error());
    const auto tool = folder.at("/out/usr/bin/tool");
    EXPECT_EQ(content_of(tool.string()), "text");
    EXPECT_EQ(std::filesystem::status(tool).permissions(), std::filesystem::perms(0755))
        << "setuid must not come through";
    EXPECT_EQ(std::filesystem::read_symlink(folder.at("/out/usr/bin/link")), "tool");
    EXPECT_EQ(content_of(folder.at("/out/usr/bin/other").string()), "text");
  }
}

TEST(Deb, IsUnpackedIntoTheRequestedPathsOnly) {
  const TempDir folder;
  const auto file =
      TestDeb{.package = "a", .entries = {{.path = "./lib/x", .content = "x"}, {.path = "./usr/y", .content = "y"}}}
          .write(folder.string());
  ASSERT_TRUE(unpack_deb(file, folder.string() + "/out",
                         [](const std::string& path) { return path == "lib/x" ? "usr/lib/x" : std::string{}; }));
  EXPECT_EQ(content_of(folder.at("/out/usr/lib/x").string()), "x");
  EXPECT_FALSE(std::filesystem::exists(folder.at("/out/usr/y")));
}

TEST(Deb, NeverWritesOutsideOfTheFolder) {
  const TempDir folder;
  folder.directory("/outside");
  const auto outside = folder.at("/outside").string();
  const std::vector<std::vector<testing::DebEntry>> attacks{
      {{.path = "../outside/a", .content = "x"}},
      {{.path = "./a/../../outside/b", .content = "x"}},
      {{.path = outside + "/c", .content = "x"}},
      {{.path = "./way", .link = outside}, {.path = "./way/d", .content = "x"}},
      {{.path = "./dev", .device = true}}};
  for (std::size_t i = 0; i < attacks.size(); ++i) {
    const auto file = TestDeb{.package = "evil" + std::to_string(i), .entries = attacks[i]}.write(folder.string());
    (void)unpack_deb(file, folder.string() + "/out" + std::to_string(i), kSamePath);
    EXPECT_TRUE(std::filesystem::is_empty(folder.at("/outside"))) << i;
  }
  EXPECT_EQ(
      unpack_deb(folder.string() + "/evil4_535.261.03-1_amd64.deb", folder.string() + "/x", kSamePath).error().code,
      ErrorCode::corrupt);
}

TEST(Deb, ThatIsInvalidOrIncompleteIsRefused) {
  const TempDir folder;
  folder.file("/text.deb", "this is not a package");
  EXPECT_EQ(read_deb_info(folder.at("/text.deb").string()).error().code, ErrorCode::corrupt);
  EXPECT_EQ(read_deb_info(folder.at("/none.deb").string()).error().code, ErrorCode::not_found);
  const auto file =
      TestDeb{.package = "a", .entries = {{.path = "./x", .content = std::string(200000, 'x')}}}.write(folder.string());
  const auto whole = content_of(file);
  std::mt19937 random{17};
  for (int round = 0; round < 200; ++round) {
    std::string bytes = whole.substr(0, random() % whole.size());
    for (auto edits = random() % 4; edits > 0 && !bytes.empty(); --edits)
      bytes[random() % bytes.size()] = static_cast<char>(random() % 256);
    std::ofstream(file, std::ios::binary | std::ios::trunc) << bytes;
    const auto info = read_deb_info(file);
    EXPECT_TRUE(info || info.error().where == file);
    const auto done = unpack_deb(file, folder.string() + "/cut", kSamePath);
    EXPECT_FALSE(done) << round;
  }
}

}  // namespace
}  // namespace slipway::driver
