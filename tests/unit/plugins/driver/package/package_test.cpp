// SPDX-License-Identifier: Apache-2.0
#include "driver/package/package.hpp"

#include <random>

#include <gmock/gmock.h>

#include "driver/package/annotations.hpp"
#include "tests/unit/plugins/driver/test_catalogue.hpp"

namespace slipway::driver {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::TestPackage;

TEST(Package, IsReadFromTheAnnotationsAndLayerRolesOfItsManifest) {
  const auto package = package_from(TestPackage{.extra = {{annotation::kSigner, "MOK of the fleet"}}}.entry());
  ASSERT_TRUE(package);
  EXPECT_EQ(package->version, "535.261.03");
  EXPECT_EQ(package->flavour, nvidia::Flavour::open);
  EXPECT_EQ(package->kernel_release, "6.1.0-50-amd64");
  EXPECT_EQ(package->os, "debian12");
  EXPECT_EQ(package->signer, "MOK of the fleet");
  EXPECT_EQ(package->modules["digest"], "sha256:modules-535.261.03-open-6.1.0-50-amd64");
  EXPECT_TRUE(package->source.is_null());
  EXPECT_FALSE(package->is_source());
}

TEST(Package, KeepsTheKernelReleaseThatItsTagCannotHold) {
  const auto package = package_from(TestPackage{.kernel = "6.12.107+deb12-amd64"}.entry());
  EXPECT_EQ(package->kernel_release, "6.12.107+deb12-amd64");
}

TEST(Package, ReportsMissingPartsWhenItIsBroken) {
  const auto what = [](const CatalogueEntry& entry) { return package_from(entry).error().what; };
  EXPECT_THAT(what(TestPackage{.version = "latest"}.entry()), HasSubstr("has no driver version in its annotation"));
  EXPECT_THAT(what(TestPackage{.flavour = "closed"}.entry()), HasSubstr("is neither open nor proprietary"));
  auto no_modules = TestPackage{}.entry();
  no_modules.layers.erase(2);
  EXPECT_THAT(what(no_modules), HasSubstr("has no modules layer"));
  auto no_source = TestPackage{.kernel = ""}.entry();
  no_source.layers.erase(2);
  EXPECT_THAT(what(no_source), HasSubstr("has no source layer"));
}

TEST(Package, RecordsFailingKernelsByReleaseOrPattern) {
  const auto by_release = package_from(TestPackage{
      .kernel = "", .extra = {{annotation::kFails, R"({"6.1.0-56-amd64": "nv-pci.c:223: error: too few arguments"})"}}}
                                           .entry());
  EXPECT_EQ(by_release->known_failure("6.1.0-56-amd64"), "nv-pci.c:223: error: too few arguments");
  EXPECT_FALSE(by_release->known_failure("6.1.0-50-amd64"));
  const auto by_pattern =
      package_from(TestPackage{.kernel = "", .extra = {{annotation::kFails, R"(["6.1.0-5[3-9]-*"])"}}}.entry());
  EXPECT_TRUE(by_pattern->known_failure("6.1.0-55-cloud-amd64"));
  EXPECT_FALSE(by_pattern->known_failure("6.1.0-50-amd64"));
  for (const auto* nonsense : {"", "{", "7", R"({"6.1": 1})"})
    EXPECT_FALSE(package_from(TestPackage{.kernel = "", .extra = {{annotation::kFails, nonsense}}}.entry())
                     ->known_failure("6.1.0-50-amd64"));
}

TEST(Packages, AreSortedAndUnique) {
  auto list = testing::catalogue({{.kernel = "6.1.0-50-amd64"},
                                  {.kernel = "6.1.0-9-amd64"},
                                  {.kernel = ""},
                                  {.version = "470.256.02", .flavour = "proprietary"}});
  list.entries.push_back(list.entries[0]);
  list.entries.push_back({"sha256:x", "x", "application/vnd.other.v1", Json::object(), Json::array()});
  auto broken = TestPackage{.version = "535.1"}.entry();
  broken.annotations.erase(annotation::kFlavour);
  list.entries.push_back(broken);
  std::vector<std::string> problems;
  std::vector<std::string> found;
  for (const auto& package : packages_of(list, problems))
    found.push_back(package.version + " " + package.kernel_release);
  EXPECT_THAT(found, ElementsAre("470.256.02 6.1.0-50-amd64", "535.261.03 ", "535.261.03 6.1.0-9-amd64",
                                 "535.261.03 6.1.0-50-amd64"));
  EXPECT_EQ(problems.size(), 1U);
}

TEST(PackageFiles, SurviveTheTripThroughJson) {
  const PackageFiles files{"usr/lib64", {"libcuda.so.1"}, {"nvidia-smi"}, {"nvidia.icd"}};
  const auto back = package_files_from_json(to_json(files));
  ASSERT_TRUE(back);
  EXPECT_EQ(to_json(*back), to_json(files));
}

// These names become paths of the root, so every name that leads out of a folder is refused.
TEST(PackageFiles, RefuseNamesThatLeadOutOfTheirFolder) {
  for (const auto* name : {"", ".", "..", "a/b", "/etc/passwd", "../../etc", "a\nb"}) {
    EXPECT_FALSE(package_files_from_json({{"libdir", "usr/lib"}, {"tools", {name}}})) << name;
    EXPECT_FALSE(source_tree_from_json({{"directory", "nvidia"}, {"modules", {name}}})) << name;
  }
  for (const auto* path : {"", "/usr/lib", "usr/../../etc", "usr//lib", "usr/lib/", "./usr"})
    EXPECT_FALSE(package_files_from_json({{"libdir", path}})) << path;
}

TEST(PackageFiles, OfAnyJsonNeverThrow) {
  std::mt19937 random{11};
  const std::vector<Json> values{nullptr,
                                 1,
                                 "usr/lib",
                                 "..",
                                 Json::array(),
                                 Json::array({"a"}),
                                 Json::array({1}),
                                 Json::object(),
                                 true,
                                 Json::array({Json::array()})};
  for (int round = 0; round < 3000; ++round) {
    Json object = Json::object();
    for (const auto* member : {"libdir", "libraries", "tools", "icds", "directory", "modules"})
      if (random() % 3 != 0) object[member] = values[random() % values.size()];
    const auto files = package_files_from_json(object);
    EXPECT_TRUE(!files || files->libdir == "usr/lib") << object;
    (void)source_tree_from_json(object);
  }
  for (const auto& value : values) EXPECT_FALSE(package_files_from_json(value));
}

}  // namespace
}  // namespace slipway::driver
