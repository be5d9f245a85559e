// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "artifact/oci/catalogue.hpp"
#include "artifact/oci/trust.hpp"
#include "tests/component/artifact/support/layout_registry.hpp"
#include "tests/component/artifact/support/sample_package.hpp"

namespace slipway::artifact {
namespace {

using test::LayoutRegistry;
using test::registry_error;
using test::SamplePackage;
using test::ServedRequest;
using test::ServedResponse;

struct Reader {
  OriginContext context;
  std::vector<std::string> warnings;

  explicit Reader(const std::string& cache) {
    context.cache = cache;
    context.reporter.log = [this](const std::string&, const std::string& text) { warnings.push_back(text); };
  }

  Result<Catalogue> read(const Source& source, const CatalogueQuery& query = {}) {
    SLIPWAY_TRY(origin, open_registry(source, context, test::quick_settings()));
    return read_catalogue(*origin, source, query, context.reporter);
  }
};

Source source_of(const LayoutRegistry& registry) {
  return {.repository = registry.repository(), .trust_unsigned = true};
}

TEST(RegistryCatalogue, EqualsTheCatalogueOfTheSamePackageInALayout) {
  SamplePackage package;
  LayoutRegistry registry(package.layout);
  Reader reader(package.cache());
  const auto remote = reader.read(source_of(registry));
  ASSERT_TRUE(remote) << to_text(remote.error());
  const auto local = open_local({.repository = package.layout.path()});
  const auto folder = read_catalogue(**local, {.repository = package.layout.path(), .trust_unsigned = true}, {}, {});
  EXPECT_EQ(to_json(*remote)["entries"], to_json(*folder)["entries"]);
  EXPECT_EQ(remote->entries.size(), 2U);
  EXPECT_TRUE(remote->complete);
}

TEST(RegistryCatalogue, ReadsTagsPageByPage) {
  SamplePackage package;
  for (int i = 0; i < 7; ++i) package.layout.list(package.for_53, "more-" + std::to_string(i));
  LayoutRegistry registry(package.layout);
  registry.page_size = 2;
  Reader reader(package.cache());
  ASSERT_TRUE(
      reader.read(source_of(registry), {.tags = {.prefixes = std::vector<std::string>{"more-6"}}, .digest = {}}));
  EXPECT_EQ(registry.server().count("GET", "/v2/nvidia/driver/tags/list"), 5);
  EXPECT_EQ(registry.server().count("HEAD", "/v2/nvidia/driver/manifests/"), 1) << "only what the prefix allows";
}

TEST(RegistryCatalogue, NamesTheTagsThatItDoesNotRead) {
  SamplePackage package;
  package.layout.list(package.for_53, "580-debian12");
  LayoutRegistry registry(package.layout);
  Reader reader(package.cache());
  const auto names = reader.read(source_of(registry), {.tags = {.prefixes = std::vector<std::string>{}}, .digest = {}});
  ASSERT_TRUE(names) << to_text(names.error());
  EXPECT_FALSE(names->complete);
  EXPECT_TRUE(names->entries.empty());
  EXPECT_EQ(registry.server().count("HEAD", "/v2/nvidia/driver/manifests/"), 0) << "names cost one request";
  const auto some =
      reader.read(source_of(registry), {.tags = {.prefixes = std::vector<std::string>{"580"}}, .digest = {}});
  ASSERT_TRUE(some) << to_text(some.error());
  EXPECT_EQ(some->entries.size(), 1U);
  EXPECT_EQ(some->unread.size() + 1, names->unread.size());
}

TEST(RegistryCatalogue, AsksForEveryKnownManifestType) {
  SamplePackage package;
  LayoutRegistry registry(package.layout);
  Reader reader(package.cache());
  ASSERT_TRUE(reader.read(source_of(registry)));
  for (const ServedRequest& request : registry.server().requests()) {
    if (request.target.find("/manifests/") == std::string::npos) continue;
    for (const char* type :
         {media_type::kManifest, media_type::kIndex, media_type::kDockerManifest, media_type::kDockerList})
      EXPECT_NE(request.header("accept").find(type), std::string::npos) << request.target;
  }
}

TEST(RegistryCatalogue, NeedsNoNetworkOnceTheLockedManifestIsCached) {
  SamplePackage package;
  const std::string digest = package.for_50["digest"];
  std::string repository;
  Reader reader(package.cache());
  {
    LayoutRegistry registry(package.layout);
    repository = registry.repository();
    ASSERT_TRUE(reader.read(source_of(registry)));
  }
  const auto locked = reader.read({.repository = repository}, {.tags = {}, .digest = digest});
  ASSERT_TRUE(locked) << to_text(locked.error());
  EXPECT_FALSE(locked->complete);
  ASSERT_EQ(locked->entries.size(), 1U);
  EXPECT_EQ(locked->entries[0].digest, digest);
}

TEST(RegistryCatalogue, FetchesAManifestAgainWhenTheCachedOneIsDamaged) {
  SamplePackage package;
  LayoutRegistry registry(package.layout);
  Reader reader(package.cache());
  test::write_file(package.cached(package.for_50), "{}");
  const auto locked = reader.read(source_of(registry), {.tags = {}, .digest = package.for_50["digest"]});
  ASSERT_TRUE(locked) << to_text(locked.error());
  EXPECT_EQ(test::file_text(package.cached(package.for_50)),
            test::file_text(package.layout.blob_path(package.for_50["digest"])));
}

TEST(RegistryCatalogue, HashesTheManifestWhereTheRegistryTellsNoDigest) {
  SamplePackage package;
  LayoutRegistry* self = nullptr;
  LayoutRegistry registry(package.layout, [&](const ServedRequest& request) -> std::optional<ServedResponse> {
    ServedResponse response = self->answer(request);
    response.headers.erase("Docker-Content-Digest");
    return response;
  });
  self = &registry;
  Reader reader(package.cache());
  const auto catalogue = reader.read(source_of(registry));
  ASSERT_TRUE(catalogue) << to_text(catalogue.error());
  EXPECT_EQ(catalogue->entries.size(), 2U);
}

TEST(RegistryCatalogue, RefusesAManifestThatIsNotWhatItsDigestNames) {
  SamplePackage package;
  LayoutRegistry* self = nullptr;
  LayoutRegistry registry(package.layout, [&](const ServedRequest& request) -> std::optional<ServedResponse> {
    ServedResponse response = self->answer(request);
    if (request.method == "GET" && request.target.find("manifests/sha256:") != std::string::npos)
      response.body[response.body.size() / 2] ^= 1;
    return response;
  });
  self = &registry;
  Reader reader(package.cache());
  const auto catalogue = reader.read(source_of(registry));
  ASSERT_FALSE(catalogue);
  EXPECT_EQ(catalogue.error().code, ErrorCode::corrupt) << to_text(catalogue.error());
}

TEST(RegistryCatalogue, NamesTheNearestTagsForOneThatIsMissing) {
  SamplePackage package;
  LayoutRegistry registry(package.layout);
  Reader reader(package.cache());
  Source source = source_of(registry);
  source.tag = "535.261.03-debian11";
  const auto missing = reader.read(source);
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().code, ErrorCode::not_found);
  const std::string text = to_text(missing.error());
  EXPECT_NE(text.find("535.261.03-debian12"), std::string::npos) << text;
}

TEST(RegistryCatalogue, SaysThatARepositoryIsMissing) {
  SamplePackage package;
  LayoutRegistry registry(package.layout);
  Reader reader(package.cache());
  Source source = source_of(registry);
  source.repository = "oci://" + registry.server().authority() + "/no/such";
  const auto missing = reader.read(source);
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().code, ErrorCode::not_found);
  EXPECT_NE(missing.error().what.find("no/such"), std::string::npos) << to_text(missing.error());
  EXPECT_NE(to_text(missing.error()).find("NAME_UNKNOWN"), std::string::npos) << "the registry's own words are shown";
}

TEST(RegistryCatalogue, RefusesAnUnsignedRegistryAndShowsWhatCouldBePinned) {
  SamplePackage package;
  LayoutRegistry registry(package.layout);
  Reader reader(package.cache());
  const auto untrusted = reader.read({.repository = registry.repository()});
  ASSERT_FALSE(untrusted);
  EXPECT_EQ(untrusted.error().code, ErrorCode::denied);
  EXPECT_NE(to_text(untrusted.error()).find(package.index["digest"].get<std::string>()), std::string::npos);
}

TEST(RegistryCatalogue, ShowsAWarningHeaderOnce) {
  SamplePackage package;
  LayoutRegistry* self = nullptr;
  LayoutRegistry registry(package.layout, [&](const ServedRequest& request) -> std::optional<ServedResponse> {
    ServedResponse response = self->answer(request);
    response.headers["Warning"] = "299 - \"this registry moves on Friday\"";
    return response;
  });
  self = &registry;
  Reader reader(package.cache());
  ASSERT_TRUE(reader.read(source_of(registry)));
  EXPECT_EQ(std::count_if(reader.warnings.begin(), reader.warnings.end(),
                          [](const std::string& text) { return text.find("moves on Friday") != std::string::npos; }),
            1);
}

TEST(RegistryCatalogue, SkipsSignaturesBesideThePackages) {
  SamplePackage package;
  package.layout.list(package.for_53, "sha256-" + std::string(64, 'a') + ".sig");
  package.layout.list(package.for_53, "sha256-" + std::string(64, 'b'));
  LayoutRegistry registry(package.layout);
  Reader reader(package.cache());
  ASSERT_TRUE(reader.read(source_of(registry)));
  EXPECT_EQ(registry.server().count("HEAD", "/v2/nvidia/driver/manifests/sha256-"), 0);
}

}  // namespace
}  // namespace slipway::artifact
