// SPDX-License-Identifier: Apache-2.0
#include "core/loader/manifest.hpp"

#include <filesystem>

#include <gmock/gmock.h>

#include "core/spec/document.hpp"
#include "driver/settings.hpp"
#include "test_host.hpp"

namespace slipway::driver {
namespace {

core::Manifest manifest() {
  auto manifests = core::parse_manifests(testing::content_of(DRIVER_MANIFEST), DRIVER_MANIFEST);
  EXPECT_TRUE(manifests) << to_text(manifests.error());
  return manifests->at(0);
}

Result<Spec> section_of(const Json& written) {
  core::Plugins plugins;
  plugins.files["driver.so"].components = {manifest()};
  plugins.component_to_path["driver"] = "driver.so";
  const Json document{{"apiVersion", "slipway.dev/v1"},
                      {"kind", "Host"},
                      {"metadata", {{"name", "test"}}},
                      {"spec", {{"components", {{"driver", written}}}}}};
  SLIPWAY_TRY(spec, core::host_spec_from_json(document, "host.yaml", plugins));
  return Spec{spec.components.at("driver")};
}

void expect_help_everywhere(const core::SchemaKey& key, const std::string& name) {
  EXPECT_FALSE(key.help.empty()) << name;
  EXPECT_FALSE(key.example.empty()) << name;
  for (const auto& [child, schema] : key.keys) expect_help_everywhere(schema, name + "." + child);
}

TEST(DriverManifest, HasHelpAndAnExampleForEveryKey) {
  const auto parsed = manifest();
  for (const auto& [name, key] : parsed.spec.keys) expect_help_everywhere(key, name);
  EXPECT_TRUE(parsed.has_tools);
  EXPECT_EQ(parsed.provides, std::vector<std::string>{"gpu-driver"});
}

// Before the fix, the error for an unreadable version was a regular expression.
TEST(DriverManifest, DescribesTheFormOfAVersion) {
  for (const char* wrong : {"53x", "535 550", ">=535,<550", "newest"}) {
    const auto spec = section_of({{"source", "/p"}, {"version", wrong}});
    ASSERT_FALSE(spec) << wrong;
    EXPECT_EQ(
        spec.error().what,
        "driver.version: expected a version (535.261.03), a branch (535), a range (\">=535.200 <550\") or latest, "
        "found '" +
            std::string(wrong) + "'");
    EXPECT_EQ(spec.error().next, "write it like this: 535.261.03");
  }
}

void expect_words_for_patterns(const core::SchemaKey& key, const std::string& name) {
  EXPECT_EQ(key.pattern.empty(), key.expects.empty()) << name << " has a pattern and no words for people";
  for (const core::SchemaKey& items : key.items) expect_words_for_patterns(items, name + "[]");
  for (const auto& [child, schema] : key.keys) expect_words_for_patterns(schema, name + "." + child);
}

TEST(OwnManifests, HaveWordsForEveryPattern) {
  const auto plugins = std::filesystem::path(DRIVER_MANIFEST).parent_path().parent_path();
  std::size_t seen = 0;
  for (const auto& file : std::filesystem::recursive_directory_iterator(plugins)) {
    if (!file.path().string().ends_with(".component.yaml")) continue;
    const auto manifests = core::parse_manifests(testing::content_of(file.path().string()), file.path().string());
    ASSERT_TRUE(manifests) << to_text(manifests.error());
    for (const core::Manifest& each : *manifests) expect_words_for_patterns(each.spec, each.component);
    seen += manifests->size();
  }
  EXPECT_GE(seen, 6U);
}

TEST(DriverManifest, NeedsOnlyASource) {
  const auto spec = section_of({{"source", "oci://registry:5000/nvidia/driver"}});
  ASSERT_TRUE(spec) << to_text(spec.error());
  const auto settings = read_settings(*spec);
  ASSERT_TRUE(settings) << to_text(settings.error());
  EXPECT_EQ(settings->libdir, "auto");
  EXPECT_TRUE(settings->blacklist_nouveau);
  EXPECT_EQ(settings->load.size(), 3U);
}

TEST(DriverManifest, TakesEveryKeyThatTheSettingsRead) {
  const auto spec = section_of({{"version", "535.261.03"},
                                {"source", {{"repository", "/packages"}, {"trust", "unsigned"}}},
                                {"modules", "open"},
                                {"gpus", {"H100", "10de:2330"}},
                                {"precompiled", "never"},
                                {"signing", {{"key", {{"file", "/k"}}}, {"certificate", "/c"}}},
                                {"parameters", {{"nvidia", {{"NVreg_EnableMSI", 1}}}}},
                                {"load", {"nvidia-drm"}},
                                {"blacklist_nouveau", false},
                                {"libdir", "/opt/lib"},
                                {"kernels", {"6.1.0-50-amd64", "6.1.0-56-amd64"}},
                                {"kernel_without_package", "note"},
                                {"existing", "keep"}});
  ASSERT_TRUE(spec) << to_text(spec.error());
  const auto settings = read_settings(*spec);
  ASSERT_TRUE(settings) << to_text(settings.error());
  EXPECT_EQ(settings->version.text(), "535.261.03");
  EXPECT_EQ(settings->modules, nvidia::Flavour::open);
  EXPECT_EQ(settings->gpus.size(), 2U);
  EXPECT_EQ(settings->precompiled, Precompiled::never);
  EXPECT_EQ(settings->sign_key, "/k");
  EXPECT_EQ(settings->parameters.at("nvidia").at("NVreg_EnableMSI"), "1");
  EXPECT_EQ(settings->load.back(), "nvidia-drm");
  EXPECT_FALSE(settings->blacklist_nouveau);
  EXPECT_EQ(settings->libdir, "/opt/lib");
  EXPECT_EQ(settings->kernels.releases.size(), 2U);
  EXPECT_TRUE(settings->note_missing_package);
  EXPECT_TRUE(settings->keep_existing);
}

TEST(DriverManifest, RefusesInvalidVersionsAndKeys) {
  EXPECT_FALSE(section_of({{"source", "/p"}, {"version", "newest"}}));
  const auto wrong = section_of({{"source", "/p"}, {"verson", "535.261.03"}});
  ASSERT_FALSE(wrong);
  EXPECT_THAT(to_text(wrong.error()), ::testing::HasSubstr("version"));
}

}  // namespace
}  // namespace slipway::driver
