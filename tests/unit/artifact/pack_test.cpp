// SPDX-License-Identifier: Apache-2.0
#include <filesystem>
#include <fstream>
#include <sstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <slipway/testing/temp_dir.hpp>

#include "artifact/operations.hpp"
#include "artifact/pack/package.hpp"

namespace slipway::artifact {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

std::string text_of(const fs::path& file) {
  std::ostringstream text;
  text << std::ifstream(file, std::ios::binary).rdbuf();
  return text.str();
}

/// Returns the content by path of every file and link below a folder.
std::map<std::string, std::string> tree(const fs::path& folder) {
  std::map<std::string, std::string> all;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    const std::string name = entry.path().lexically_relative(folder).string();
    if (entry.is_symlink())
      all[name] = "-> " + fs::read_symlink(entry.path()).string();
    else if (entry.is_regular_file())
      all[name] = text_of(entry.path());
    else
      all[name] = "folder";
  }
  return all;
}

/// A package folder with one kernel's manifest, which shares its user space with every other kernel's.
class PackTest : public ::testing::Test {
 protected:
  void package_for(const std::string& kernel, const std::string& compression = "zstd") {
    folder_.file("package/package.yaml",
                 "artifactType: application/vnd.test.v1\ntag: \"1.0+os\"\nmanifests:\n  - tag: 1.0-" + kernel +
                     "\n    annotations: {dev.slipway.kernel.release: " + kernel + "}\n    layers:\n" +
                     layer("userspace", compression) + layer("modules", compression));
    folder_.file("package/userspace/usr/lib/liba.so.1.0", std::string(100'000, 'a'));
    if (!fs::is_symlink(folder_.at("package/userspace/usr/lib/liba.so.1")))
      folder_.link("package/userspace/usr/lib/liba.so.1", "liba.so.1.0");
    folder_.file("package/modules/" + kernel + ".ko", kernel);
  }
  static std::string layer(const std::string& name, const std::string& compression) {
    return "      - {directory: " + name + ", mediaType: application/vnd.test.tar, compression: " + compression +
           ", annotations: {dev.slipway.layer: " + name + "}}\n";
  }
  Result<Json> build(const std::string& output) {
    return answer("build", {{"directory", folder_.at("package").string()}, {"output", folder_.at(output).string()}},
                  {});
  }
  Json source(const std::string& layout) {
    return {{"repository", folder_.at(layout).string()}, {"trust", "unsigned"}};
  }
  slipway::testing::TempDir folder_;
};

TEST_F(PackTest, GivesTheSameBytesEachTime) {
  package_for("6.1");
  ASSERT_TRUE(build("a"));
  ASSERT_TRUE(build("b"));
  EXPECT_EQ(tree(folder_.at("a")), tree(folder_.at("b")));
}

TEST_F(PackTest, UnpacksToTheFolderItWasMadeOf) {
  for (const std::string compression : {"zstd", "gzip", "xz", "none"}) {
    package_for("6.1", compression);
    const std::string layout = "layout-" + compression;
    ASSERT_TRUE(build(layout));
    const Json catalogue = *answer("catalogue", {{"source", source(layout)}}, {});
    ASSERT_EQ(catalogue["entries"].size(), 1U) << catalogue;
    const Json staged = {{"source", source(layout)},
                         {"layer", catalogue["entries"][0]["layers"][0]},
                         {"into", folder_.at("out-" + compression).string()}};
    const auto done = answer("stage", staged, {});
    ASSERT_TRUE(done) << to_text(done.error());
    EXPECT_EQ(tree(folder_.at("out-" + compression)), tree(folder_.at("package/userspace")));
  }
}

TEST_F(PackTest, AddsAKernelToALayoutThatKeepsTheOthersAndSharesTheirLayers) {
  package_for("6.1");
  const Json first = *build("layout");
  package_for("6.2");
  fs::remove(folder_.at("package/modules/6.1.ko"));
  const Json second = *build("layout");
  const Json catalogue = *answer("catalogue", {{"source", source("layout")}}, {});
  std::vector<std::string> kernels;
  std::vector<std::string> userspaces;
  for (const Json& entry : catalogue["entries"]) {
    kernels.push_back(entry["annotations"]["dev.slipway.kernel.release"]);
    userspaces.push_back(entry["layers"][0]["digest"]);
  }
  EXPECT_THAT(kernels, ::testing::UnorderedElementsAre("6.1", "6.2"));
  EXPECT_EQ(userspaces.at(0), userspaces.at(1));
}

TEST_F(PackTest, ReplacesTheManifestOfTheSameTag) {
  package_for("6.1");
  ASSERT_TRUE(build("layout"));
  folder_.file("package/modules/6.1.ko", "another build");
  ASSERT_TRUE(build("layout"));
  EXPECT_EQ((*answer("catalogue", {{"source", source("layout")}}, {}))["entries"].size(), 1U);
}

TEST_F(PackTest, ReplacesAnUntaggedManifestWithEqualAnnotations) {
  package_for("6.1");
  std::string text = text_of(folder_.at("package/package.yaml"));
  text.replace(text.find("tag: 1.0-6.1\n    "), sizeof("tag: 1.0-6.1\n    ") - 1, "");
  folder_.file("package/package.yaml", text);
  ASSERT_TRUE(build("layout"));
  folder_.file("package/modules/6.1.ko", "another build");
  ASSERT_TRUE(build("layout"));
  EXPECT_EQ((*answer("catalogue", {{"source", source("layout")}}, {}))["entries"].size(), 1U);
}

TEST_F(PackTest, RefusesContentThatUnpackingWouldRefuse) {
  const std::pair<const char*, const char*> links[] = {{"absolute", "/etc/passwd"}, {"escaping", "../../../etc"}};
  for (const auto& [name, target] : links) {
    package_for("6.1");
    folder_.link(std::string("package/userspace/") + name, target);
    const auto built = build(std::string("layout-") + name);
    ASSERT_FALSE(built) << name;
    EXPECT_THAT(built.error().where, HasSubstr(name));
    fs::remove(folder_.at(std::string("package/userspace/") + name));
  }
  package_for("6.1");
  const std::string tool = folder_.at("package/userspace/tool").string();
  folder_.file("package/userspace/tool", "text");
  ASSERT_EQ(::chmod(tool.c_str(), 04755), 0);
  const auto built = build("layout-setuid");
  ASSERT_FALSE(built);
  EXPECT_THAT(built.error().what, HasSubstr("setuid"));
}

TEST_F(PackTest, NamesThePlaceOfAMistakeInPackageYaml) {
  package_for("6.1");
  folder_.file("package/package.yaml", "artifactType: a/b\ntag: x\nmanifest: []\n");
  const auto built = build("layout");
  ASSERT_FALSE(built);
  EXPECT_THAT(built.error().where, HasSubstr("package.yaml:3:1"));
  EXPECT_THAT(built.error().what, HasSubstr("'manifest'"));
}

TEST(Tag, HoldsAnUnderscoreWhereAKernelReleaseHasAPlus) {
  EXPECT_EQ(*to_tag("535.1-6.12.107+deb12-amd64"), "535.1-6.12.107_deb12-amd64");
  EXPECT_FALSE(to_tag("-x"));
  EXPECT_FALSE(to_tag(std::string(129, 'a')));
  EXPECT_FALSE(to_tag("a b"));
}

}  // namespace
}  // namespace slipway::artifact
