// SPDX-License-Identifier: Apache-2.0
#include "artifact/operations.hpp"

#include <gtest/gtest.h>

#include "tests/unit/artifact/support/layout_maker.hpp"
#include "tests/unit/artifact/support/tar_maker.hpp"
#include "tests/unit/artifact/support/temp_dir.hpp"

namespace slipway::artifact {
namespace {

using test::LayoutMaker;
using test::TempDir;
namespace fs = std::filesystem;

struct ListedPackage {
  TempDir dir;
  LayoutMaker layout{dir / "layout"};
  Json layer =
      layout.layer(test::compress(test::tar_of({{.name = "usr/lib/libcuda.so", .content = "cuda"}}), Compression::zstd),
                   "userspace");
  Json manifest = layout.manifest({layer});
  Json source{{"repository", layout.path()}, {"digest", manifest["digest"]}};
  ListedPackage() { layout.list(manifest, "1.0"); }
};

Result<Json> ask(const char* op, const Json& request) { return answer(op, request, Reporter{}); }

TEST(StageOperation, UnpacksALayerStraightFromTheLayout) {
  ListedPackage package;
  const auto done = ask("stage", {{"source", package.source}, {"layer", package.layer}, {"into", package.dir / "out"}});
  ASSERT_TRUE(done) << to_text(done.error());
  EXPECT_EQ(*done, (Json{{"files", 1}, {"bytes", 4}}));
  EXPECT_EQ(test::file_text(package.dir / "out/usr/lib/libcuda.so"), "cuda");
}

TEST(StageOperation, UnpacksALayerStraightFromABundle) {
  ListedPackage package;
  const std::string bundle = package.dir / "bundle.tar";
  ASSERT_EQ(std::system(("tar -C " + package.layout.path() + " -cf " + bundle + " .").c_str()), 0);
  package.source["repository"] = bundle;
  const auto done = ask("stage", {{"source", package.source}, {"layer", package.layer}, {"into", package.dir / "out"}});
  ASSERT_TRUE(done) << to_text(done.error());
  EXPECT_EQ(test::file_text(package.dir / "out/usr/lib/libcuda.so"), "cuda");
}

TEST(StageOperation, RefusesALayerThatThePinnedManifestDoesNotList) {
  ListedPackage package;
  const Json stray = package.layout.layer(test::tar_of({{.name = "evil"}}), "stray");
  const auto done = ask("stage", {{"source", package.source}, {"layer", stray}, {"into", package.dir / "out"}});
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().code, ErrorCode::denied);
  EXPECT_FALSE(fs::exists(package.dir / "out"));
}

TEST(StageOperation, RefusesAnUntrustedSource) {
  ListedPackage package;
  Json request{{"source", package.layout.path()}, {"layer", package.layer}, {"into", package.dir / "out"}};
  EXPECT_EQ(ask("stage", request).error().code, ErrorCode::denied);
  request["digest"] = package.manifest["digest"];
  EXPECT_TRUE(ask("stage", request)) << "what the lock names is pinned";
}

TEST(StageOperation, AcceptsUnsignedContentOnRequest) {
  ListedPackage package;
  const Json source{{"repository", package.layout.path()}, {"trust", "unsigned"}};
  EXPECT_TRUE(ask("stage", {{"source", source}, {"layer", package.layer}, {"into", package.dir / "out"}}));
}

TEST(StageOperation, SaysWhichLayerOfWhichSourceIsDamaged) {
  ListedPackage package;
  std::string bytes = test::file_text(package.layout.blob_path(package.layer["digest"]));
  bytes[bytes.size() / 2] ^= 1;
  test::write_file(package.layout.blob_path(package.layer["digest"]), bytes);
  const auto done = ask("stage", {{"source", package.source}, {"layer", package.layer}, {"into", package.dir / "out"}});
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().code, ErrorCode::corrupt);
  const std::string text = to_text(done.error());
  EXPECT_NE(text.find("userspace"), std::string::npos) << text;
  EXPECT_NE(text.find(package.layout.path()), std::string::npos) << text;
  EXPECT_NE(text.find(package.layer["digest"].get<std::string>()), std::string::npos) << text;
  EXPECT_NE(text.find("copy the layout from its source again"), std::string::npos) << text;
}

TEST(StageOperation, RefusesALayerThatIsNotAnArchive) {
  ListedPackage package;
  Json config = package.layer;
  config["mediaType"] = "application/json";
  const auto done = ask("stage", {{"source", package.source}, {"layer", config}, {"into", package.dir / "out"}});
  EXPECT_EQ(done.error().code, ErrorCode::unsupported);
}

TEST(FetchOperation, OfALayoutNamesItsFilesAndMovesNothing) {
  ListedPackage package;
  const auto done = ask("fetch", {{"source", package.source}, {"layers", Json::array({package.layer})}});
  ASSERT_TRUE(done) << to_text(done.error());
  EXPECT_EQ((*done)["bytes"], 0);
  EXPECT_EQ((*done)["layers"][0]["path"], package.layout.blob_path(package.layer["digest"]));
}

TEST(FetchOperation, SaysWhichBlobTheLayoutLacksOrHasCutShort) {
  ListedPackage package;
  const std::string path = package.layout.blob_path(package.layer["digest"]);
  fs::resize_file(path, 10);
  const Json request{{"source", package.source}, {"layers", Json::array({package.layer})}};
  EXPECT_EQ(ask("fetch", request).error().code, ErrorCode::corrupt);
  fs::remove(path);
  EXPECT_EQ(ask("fetch", request).error().code, ErrorCode::not_found);
}

TEST(Operations, NameTheMemberThatARequestLacks) {
  ListedPackage package;
  EXPECT_EQ(ask("catalogue", Json::object()).error().where, "source");
  EXPECT_EQ(ask("fetch", {{"source", package.source}}).error().where, "layers");
  EXPECT_EQ(ask("stage", {{"source", package.source}}).error().where, "layer");
  EXPECT_EQ(ask("stage", {{"source", package.source}, {"layer", package.layer}}).error().where, "into");
  EXPECT_FALSE(is_operation("destroy"));
}

}  // namespace
}  // namespace slipway::artifact
