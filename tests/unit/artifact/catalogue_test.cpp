// SPDX-License-Identifier: Apache-2.0
#include "artifact/oci/catalogue.hpp"

#include <gtest/gtest.h>

#include "artifact/registry/registry_origin.hpp"
#include "tests/unit/artifact/support/layout_maker.hpp"
#include "tests/unit/artifact/support/temp_dir.hpp"

namespace slipway::artifact {
namespace {

using test::annotated;
using test::LayoutMaker;
using test::TempDir;

struct Read {
  Result<Catalogue> catalogue;
  std::vector<std::string> warnings;
};

Read read(const Json& source, const CatalogueQuery& query = {}) {
  std::vector<std::string> warnings;
  OriginContext context;
  context.reporter.log = [&](const std::string&, const std::string& text) { warnings.push_back(text); };
  const auto parsed = source_from_json(source);
  auto origin = open_origin(*parsed, context);
  if (!origin) return {std::move(origin).error(), warnings};
  auto catalogue = read_catalogue(**origin, *parsed, query, context.reporter);
  return {std::move(catalogue), warnings};
}

Json unsigned_source(const std::string& path) { return {{"repository", path}, {"trust", "unsigned"}}; }

std::vector<std::string> tags_of(const Catalogue& catalogue) {
  std::vector<std::string> tags;
  for (const Entry& entry : catalogue.entries) tags.push_back(entry.tag);
  return tags;
}

/// Two kernels and a source manifest under one index tag, and one kernel with a tag of its own.
struct SampleLayout {
  TempDir dir;
  LayoutMaker layout{dir / "layout"};
  Json user = layout.layer("userspace", "userspace");
  Json first = layout.manifest({user, layout.layer("modules 1", "modules")}, {{"kernel", "1"}, {"from", "manifest"}});
  Json second = layout.manifest({user, layout.layer("modules 2", "modules")});
  Json index =
      layout.index({annotated(first, {{"from", "index"}, {"seen", "yes"}}), annotated(second, {{"kernel", "2"}})});
  SampleLayout() {
    layout.list(index, "535-debian12");
    layout.list(second, "535-kernel-2");
  }
};

TEST(LayoutCatalogue, ListsEveryManifestOnceUnderItsOwnTagOrItsIndexes) {
  SampleLayout sample;
  const auto [catalogue, warnings] = read(unsigned_source(sample.layout.path()));
  ASSERT_TRUE(catalogue) << catalogue.error().what;
  EXPECT_EQ(tags_of(*catalogue), (std::vector<std::string>{"535-debian12", "535-kernel-2"}));
  EXPECT_TRUE(catalogue->complete);
  EXPECT_EQ(catalogue->source, sample.layout.path());
  const Entry& first = catalogue->entries[0];
  EXPECT_EQ(first.digest, sample.first["digest"]);
  EXPECT_EQ(first.artifact_type, test::kArtifactType);
  EXPECT_EQ(first.annotations, (Json{{"kernel", "1"}, {"from", "manifest"}, {"seen", "yes"}}));
  EXPECT_EQ(first.layers[0], sample.user) << "descriptors come as they stand";
  EXPECT_EQ(catalogue->entries[1].annotations, (Json{{"kernel", "2"}})) << "what the index said is not lost";
  EXPECT_TRUE(warnings.empty());
}

TEST(LayoutCatalogue, ReadsOnlyTheRequestedTagOrPrefix) {
  SampleLayout sample;
  Json source = unsigned_source(sample.layout.path());
  EXPECT_EQ(tags_of(*read(source, {.tags = {.prefixes = std::vector<std::string>{"535-k"}}, .digest = {}}).catalogue),
            (std::vector<std::string>{"535-kernel-2"}));
  EXPECT_TRUE(
      read(source, {.tags = {.prefixes = std::vector<std::string>{"999"}}, .digest = {}}).catalogue->entries.empty());
  source["tag"] = "535-debian12";
  EXPECT_EQ(read(source).catalogue->entries.size(), 2U);
}

TEST(LayoutCatalogue, IsPartialWhereTagsWereLeftUnreadAndNamesThem) {
  SampleLayout sample;
  const auto part = read(unsigned_source(sample.layout.path()),
                         {.tags = {.prefixes = std::vector<std::string>{"535-k"}}, .digest = {}})
                        .catalogue;
  ASSERT_TRUE(part) << part.error().what;
  EXPECT_FALSE(part->complete);
  EXPECT_EQ(part->unread, (std::vector<std::string>{"535-debian12"}));
  EXPECT_EQ(to_json(*part)["unread"], Json(part->unread));
}

TEST(LayoutCatalogue, NamesTheNearestTagsForOneThatIsMissing) {
  SampleLayout sample;
  Json source = unsigned_source(sample.layout.path());
  source["tag"] = "535-kernel-3";
  const auto missing = read(source).catalogue;
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().code, ErrorCode::not_found);
  ASSERT_FALSE(missing.error().details.empty());
  EXPECT_EQ(missing.error().details[0].second, "535-kernel-2\n535-debian12");
}

TEST(LayoutCatalogue, IsPartialWhenTheLockNamesADigest) {
  SampleLayout sample;
  const auto locked = read(sample.layout.path(), {.tags = {}, .digest = sample.first["digest"]}).catalogue;
  ASSERT_TRUE(locked) << locked.error().what;
  EXPECT_FALSE(locked->complete);
  ASSERT_EQ(locked->entries.size(), 1U);
  EXPECT_EQ(locked->entries[0].digest, sample.first["digest"]);
}

TEST(LayoutCatalogue, ReachesALockedDigestThroughThePinnedIndexOnly) {
  SampleLayout sample;
  const Json other = sample.layout.manifest({}, {{"not", "listed"}});
  const Json source{{"repository", sample.layout.path()}, {"digest", sample.index["digest"]}};
  const auto locked = read(source, {.tags = {}, .digest = sample.second["digest"]}).catalogue;
  ASSERT_TRUE(locked) << locked.error().what;
  ASSERT_EQ(locked->entries.size(), 1U);
  EXPECT_EQ(locked->entries[0].digest, sample.second["digest"]);
  const auto stray = read(source, {.tags = {}, .digest = other["digest"]}).catalogue;
  ASSERT_FALSE(stray);
  EXPECT_EQ(stray.error().code, ErrorCode::not_found);
}

TEST(LayoutCatalogue, RefusesAnUntrustedSourceAndShowsDigestsToPin) {
  SampleLayout sample;
  const auto untrusted = read(sample.layout.path()).catalogue;
  ASSERT_FALSE(untrusted);
  EXPECT_EQ(untrusted.error().code, ErrorCode::denied);
  const std::string text = to_text(untrusted.error());
  EXPECT_NE(text.find("535-debian12 " + sample.index["digest"].get<std::string>()), std::string::npos) << text;
  EXPECT_NE(text.find("trust: unsigned"), std::string::npos) << text;
}

TEST(LayoutCatalogue, SkipsListedManifestsThatTheLayoutLacks) {
  SampleLayout sample;
  std::filesystem::remove(sample.layout.blob_path(sample.first["digest"]));
  const auto [catalogue, warnings] = read(unsigned_source(sample.layout.path()));
  ASSERT_TRUE(catalogue) << catalogue.error().what;
  EXPECT_EQ(tags_of(*catalogue), (std::vector<std::string>{"535-kernel-2"}));
  ASSERT_EQ(warnings.size(), 1U);
  EXPECT_NE(warnings[0].find("continues without this manifest"), std::string::npos);
}

TEST(LayoutCatalogue, RefusesADamagedManifest) {
  SampleLayout sample;
  const std::string path = sample.layout.blob_path(sample.first["digest"]);
  std::string text = test::file_text(path);
  text[text.size() / 2] ^= 1;
  test::write_file(path, text);
  const auto damaged = read(unsigned_source(sample.layout.path())).catalogue;
  ASSERT_FALSE(damaged);
  EXPECT_EQ(damaged.error().code, ErrorCode::corrupt);
  EXPECT_EQ(damaged.error().details[0].second, sample.first["digest"].get<std::string>());
}

TEST(LayoutCatalogue, RefusesAManifestOfAnotherTypeThanAnnounced) {
  SampleLayout sample;
  Json lie = sample.first;
  lie["mediaType"] = media_type::kIndex;
  sample.layout.list(lie, "lie");
  const auto read_lie = read(unsigned_source(sample.layout.path())).catalogue;
  ASSERT_FALSE(read_lie);
  EXPECT_EQ(read_lie.error().code, ErrorCode::invalid);
}

TEST(LayoutCatalogue, RefusesManifestsOverFourMebibytes) {
  SampleLayout sample;
  sample.layout.list(sample.layout.blob(std::string((4U << 20) + 1, ' '), media_type::kManifest), "huge");
  const auto huge = read(unsigned_source(sample.layout.path())).catalogue;
  ASSERT_FALSE(huge);
  EXPECT_EQ(huge.error().code, ErrorCode::invalid);
}

TEST(LayoutCatalogue, SkipsUnknownTypesUnlessRequested) {
  SampleLayout sample;
  sample.layout.list(
      sample.layout.blob("{\"schemaVersion\":1}", "application/vnd.docker.distribution.manifest.v1+json"), "old");
  const auto [catalogue, warnings] = read(unsigned_source(sample.layout.path()));
  ASSERT_TRUE(catalogue) << catalogue.error().what;
  EXPECT_EQ(catalogue->entries.size(), 2U);
  EXPECT_EQ(warnings.size(), 1U);
  Json source = unsigned_source(sample.layout.path());
  source["tag"] = "old";
  EXPECT_EQ(read(source).catalogue.error().code, ErrorCode::unsupported);
}

TEST(LayoutCatalogue, StopsAtIndexesNestedTooDeeply) {
  SampleLayout sample;
  Json nested = sample.index;
  for (int i = 0; i < 6; ++i) nested = sample.layout.index({nested});
  sample.layout.list(nested, "deep");
  EXPECT_EQ(read(unsigned_source(sample.layout.path())).catalogue.error().code, ErrorCode::invalid);
}

TEST(LayoutCatalogue, ExplainsAPathThatIsNotALayout) {
  TempDir dir;
  test::write_file(dir / "folder/x", "");
  test::write_file(dir / "file", "no tar");
  for (const std::string& path : {dir / "missing", dir / "folder", dir / "file", std::string("relative")}) {
    const auto wrong = read(unsigned_source(path)).catalogue;
    ASSERT_FALSE(wrong) << path;
    EXPECT_NE(wrong.error().what.find(path), std::string::npos) << wrong.error().what;
  }
}

TEST(LayoutCatalogue, OfABundleEqualsTheLayouts) {
  SampleLayout sample;
  for (const std::string& what : {std::string("."), std::string("oci-layout index.json blobs")}) {
    const std::string bundle = sample.dir / "bundle.tar";
    ASSERT_EQ(std::system(("tar -C " + sample.layout.path() + " -cf " + bundle + " " + what).c_str()), 0);
    const auto packed = read(unsigned_source(bundle)).catalogue;
    const auto folder = read(unsigned_source(sample.layout.path())).catalogue;
    ASSERT_TRUE(packed) << packed.error().what;
    EXPECT_EQ(to_json(*packed)["entries"], to_json(*folder)["entries"]);
  }
}

}  // namespace
}  // namespace slipway::artifact
