// SPDX-License-Identifier: Apache-2.0
// Copying layouts and bundles of another party: it ends, and it leaves nothing when it fails.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include "artifact/operations.hpp"
#include "tests/unit/artifact/support/layout_maker.hpp"
#include "tests/unit/artifact/support/temp_dir.hpp"

namespace slipway::artifact {
namespace {

using test::LayoutMaker;
using test::TempDir;
using ::testing::HasSubstr;
using ::testing::UnorderedElementsAre;
namespace fs = std::filesystem;

class HostilePull : public testing::Test {
 protected:
  Result<Json> pull(const std::string& from, const std::string& output) {
    return answer("pull", {{"source", {{"repository", dir / from}}}, {"output", dir / output}}, {});
  }
  /// Returns nested indexes around a manifest, each listing the next one that many times.
  Json nested(int depth, std::size_t times) {
    Json inner = layout.manifest({layout.layer("a layer", "userspace")});
    for (int i = 0; i < depth; ++i) inner = layout.index(std::vector<Json>(times, inner));
    return inner;
  }
  std::vector<std::string> names_in(const std::string& folder) const {
    std::vector<std::string> names;
    for (const auto& entry : fs::directory_iterator(dir / folder)) names.push_back(entry.path().filename().string());
    return names;
  }
  TempDir dir;
  LayoutMaker layout{dir / "layout"};
};

TEST_F(HostilePull, OfIndexesThatListTheSameChildOverAndOverVisitsItOnce) {
  layout.list(nested(4, 1000), "wide");
  const auto pulled = pull("layout", "out");
  ASSERT_TRUE(pulled) << to_text(pulled.error());
  EXPECT_EQ((*pulled)["bytes"], 7) << "the layer, once";
}

TEST_F(HostilePull, OfIndexesThatDoubleAtEachLevelEnds) {
  layout.list(nested(40, 2), "deep");
  const auto pulled = pull("layout", "out");
  ASSERT_FALSE(pulled);
  EXPECT_THAT(pulled.error().what, HasSubstr("lists more manifests than slipway reads (10000, nested 4 deep)"));
}

TEST_F(HostilePull, OfALongChainOfIndexesIsRefusedAsInspectRefusesIt) {
  layout.list(nested(12'000, 1), "chain");
  const auto pulled = pull("layout", "out");
  ASSERT_FALSE(pulled);
  const Json source{{"repository", layout.path()}, {"trust", "unsigned"}};
  EXPECT_EQ(pulled.error().what, answer("inspect", {{"source", source}}, {}).error().what);
}

TEST_F(HostilePull, OfTooManyManifestsIsRefused) {
  std::vector<Json> many;
  for (int i = 0; i < 10'001; ++i) many.push_back(layout.manifest({}, {{"number", std::to_string(i)}}));
  layout.list(layout.index(many), "many");
  const auto pulled = pull("layout", "out");
  ASSERT_FALSE(pulled);
  EXPECT_THAT(pulled.error().what, HasSubstr("lists more manifests than slipway reads"));
}

TEST_F(HostilePull, OfASparseMemberOfABundleIsRefusedUnread) {
  constexpr std::size_t kHuge = 64UL << 20;
  Json layer = layout.layer("a few bytes", "userspace");
  fs::resize_file(layout.blob_path(layer["digest"]), kHuge);
  layer["size"] = kHuge;
  layout.list(layout.manifest({layer}), "1.0");
  ASSERT_EQ(std::system(("tar --sparse -C " + layout.path() + " -cf " + (dir / "bomb.tar") + " .").c_str()), 0);
  ASSERT_LT(fs::file_size(dir / "bomb.tar"), kHuge / 100);
  const auto pulled = pull("bomb.tar", "out");
  ASSERT_FALSE(pulled);
  EXPECT_EQ(pulled.error().code, ErrorCode::invalid);
  EXPECT_THAT(pulled.error().what, HasSubstr("is packed as a sparse file"));
}

TEST_F(HostilePull, ThatFailsAtABlobLeavesNoPartOfIt) {
  const Json layer = layout.layer("a few bytes", "userspace");
  test::write_file(layout.blob_path(layer["digest"]), "other bytes");
  layout.list(layout.manifest({layer}), "1.0");
  ASSERT_EQ(pull("layout", "out").error().code, ErrorCode::corrupt);
  EXPECT_THAT(names_in("out"), UnorderedElementsAre("oci-layout", "index.json", "blobs"));
  ASSERT_EQ(pull("layout", "out.tar").error().code, ErrorCode::corrupt);
  EXPECT_THAT(names_in("."), UnorderedElementsAre("layout", "out"));
}

// Before the fix, the layout was started without an index, and no later pull into the same folder could open it.
TEST_F(HostilePull, ThatFailsLeavesALayoutIntoWhichTheNextOnePulls) {
  const Json layer = layout.layer("a few bytes", "userspace");
  test::write_file(layout.blob_path(layer["digest"]), "other bytes");
  layout.list(layout.manifest({layer}), "1.0");
  ASSERT_FALSE(pull("layout", "out"));
  test::write_file(layout.blob_path(layer["digest"]), "a few bytes");
  const auto pulled = pull("layout", "out");
  EXPECT_TRUE(pulled) << to_text(pulled.error());
  fs::remove(dir / "out/index.json");  // as a former slipway left it
  EXPECT_TRUE(pull("layout", "out"));
}

// Before the fix, the blob was written until the disk was full.
TEST_F(HostilePull, OfABlobThatDoesNotFitOnTheDiskIsRefusedUnread) {
  Json layer = layout.layer("a few bytes", "userspace");
  layer["size"] = std::uint64_t{1} << 50U;
  layout.list(layout.manifest({layer}), "1.0");
  const auto pulled = pull("layout", "out");
  ASSERT_FALSE(pulled);
  EXPECT_EQ(pulled.error().code, ErrorCode::no_space);
  EXPECT_THAT(names_in("out"), UnorderedElementsAre("oci-layout", "index.json", "blobs"));
}

TEST_F(HostilePull, OfAnOversizedBlobStopsAtItsSize) {
  const Json layer = layout.layer("a few bytes", "userspace");
  test::write_file(layout.blob_path(layer["digest"]), std::string(1 << 20, 'x'));
  layout.list(layout.manifest({layer}), "1.0");
  const auto pulled = pull("layout", "out");
  ASSERT_FALSE(pulled);
  EXPECT_EQ(pulled.error().code, ErrorCode::corrupt);
  EXPECT_THAT(pulled.error().what, HasSubstr("is longer than its 11 bytes"));
}

TEST_F(HostilePull, WritesThroughNoLinkThatLiesInTheLayout) {
  layout.list(layout.manifest({layout.layer("a few bytes", "userspace")}), "1.0");
  test::write_file(dir / "victim", "precious");
  fs::create_directory(dir / "out");
  ASSERT_TRUE(answer("pull", {{"source", {{"repository", layout.path()}}}, {"output", dir / "out"}}, {}));
  fs::remove_all(dir / "out/blobs");
  fs::create_symlink(dir / "victim", dir / "out/.slipway-new");
  ASSERT_TRUE(pull("layout", "out"));
  EXPECT_EQ(test::file_text(dir / "victim"), "precious");
}

/// A folder where other users may write too, who know the name of the future bundle.
class SharedFolder : public HostilePull {
 protected:
  void SetUp() override {
    layout.list(layout.manifest({layout.layer("a few bytes", "userspace")}), "1.0");
    test::write_file(dir / "victim", "precious");
    fs::create_directory(dir / "shared");
  }
};

TEST_F(SharedFolder, LinksThatLieBesideABundleAreNotWrittenThrough) {
  fs::create_symlink(dir / "victim", dir / "shared/b.tar.slipway-new.tar");
  fs::create_symlink(dir / "victim", dir / "shared/b.tar");
  const auto pulled = pull("layout", "shared/b.tar");
  ASSERT_TRUE(pulled) << to_text(pulled.error());
  EXPECT_EQ(test::file_text(dir / "victim"), "precious");
  EXPECT_TRUE(fs::is_regular_file(fs::symlink_status(dir / "shared/b.tar"))) << "the link is replaced";
}

TEST_F(SharedFolder, ForeignFilesAreNeitherUsedNorRemoved) {
  test::write_file(dir / "shared/b.tar.slipway-new.tar", "theirs");
  test::write_file(dir / "shared/b.tar.slipway-new/theirs", "theirs");
  const auto pulled = pull("layout", "shared/b.tar");
  ASSERT_TRUE(pulled) << to_text(pulled.error());
  EXPECT_EQ(test::file_text(dir / "shared/b.tar.slipway-new.tar"), "theirs");
  EXPECT_EQ(test::file_text(dir / "shared/b.tar.slipway-new/theirs"), "theirs");
  EXPECT_THAT(names_in("shared"), UnorderedElementsAre("b.tar", "b.tar.slipway-new.tar", "b.tar.slipway-new"));
}

TEST_F(SharedFolder, HoldsABundleWithTheModeOfTheUmask) {
  const mode_t before = ::umask(022);
  ASSERT_TRUE(pull("layout", "shared/b.tar"));
  ::umask(027);
  ASSERT_TRUE(pull("layout", "shared/new/c.tar"));
  ::umask(before);
  EXPECT_EQ(fs::status(dir / "shared/b.tar").permissions(), static_cast<fs::perms>(0644));
  EXPECT_EQ(fs::status(dir / "shared/new/c.tar").permissions(), static_cast<fs::perms>(0640));
  EXPECT_EQ(test::file_text(dir / "shared/b.tar"), test::file_text(dir / "shared/new/c.tar"));
}

}  // namespace
}  // namespace slipway::artifact
