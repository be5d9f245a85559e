// SPDX-License-Identifier: Apache-2.0
#include <filesystem>

#include <gmock/gmock.h>
#include <sys/stat.h>

#include <slipway/testing/temp_dir.hpp>

#include "driver/build/description.hpp"

namespace slipway::driver {
namespace {

using slipway::testing::TempDir;
using ::testing::IsEmpty;

const Built kBuilt{.version = "535.261.03", .os = "debian12", .arch = "x86_64"};

Json source_descriptor(const std::string& version, const Json& fails) {
  return {{"mediaType", "application/vnd.oci.image.manifest.v1+json"},
          {"digest", "sha256:1"},
          {"annotations",
           {{"dev.slipway.driver.version", version},
            {"dev.slipway.driver.flavour", "open"},
            {"dev.slipway.os", "debian12"},
            {"dev.slipway.arch", "x86_64"},
            {"dev.slipway.kernel.fails", canonical(fails)}}}};
}

TEST(RecordedFailures, AreFoundBelowTheLayoutsIndexes) {
  const TempDir layout;
  layout.file("/index.json",
              canonical({{"manifests",
                          {{{"mediaType", "application/vnd.oci.image.index.v1+json"}, {"digest", "sha256:abc"}}}}}));
  layout.file("/blobs/sha256/abc",
              canonical({{"manifests",
                          {source_descriptor("535.261.03", {{"6.1.0-56-amd64", "too few arguments"}}),
                           source_descriptor("580.82.07", {{"5.10.0", "another driver's"}})}}}));
  EXPECT_EQ(recorded_failures(layout.string(), kBuilt),
            (std::map<std::string, std::string>{{"6.1.0-56-amd64", "too few arguments"}}));
}

TEST(RecordedFailures, AreEmptyWithoutAValidLayout) {
  const TempDir layout;
  EXPECT_THAT(recorded_failures(layout.string() + "/none", kBuilt), IsEmpty());
  for (const auto* text :
       {"", "{", "[]", R"({"manifests": 1})", R"({"manifests": [1, {"annotations": []}]})",
        R"({"manifests": [{"mediaType": "application/vnd.oci.image.index.v1+json", "digest": "sha256:../x"}]})"}) {
    layout.file("/index.json", text);
    EXPECT_THAT(recorded_failures(layout.string(), kBuilt), IsEmpty()) << text;
  }
}

// Before the fix, the file was opened by its path on this machine.
TEST(RecordedFailures, AreEmptyInAPipeOrBehindALinkOutOfTheLayout) {
  const TempDir layout;
  const TempDir other;
  other.file("/index.json", canonical({{"manifests", {source_descriptor("535.261.03", {{"6.1.0", "not ours"}})}}}));
  std::filesystem::create_symlink(other.at("/index.json"), layout.at("/index.json"));
  EXPECT_THAT(recorded_failures(layout.string(), kBuilt), IsEmpty());
  std::filesystem::remove(layout.at("/index.json"));
  ASSERT_EQ(::mkfifo(layout.at("/index.json").c_str(), 0600), 0);
  EXPECT_THAT(recorded_failures(layout.string(), kBuilt), IsEmpty());
}

// An index that lists itself must not make the reader loop.
TEST(RecordedFailures, EndForAnIndexThatListsItself) {
  const TempDir layout;
  const Json self{
      {"manifests", {{{"mediaType", "application/vnd.oci.image.index.v1+json"}, {"digest", "sha256:abc"}}}}};
  layout.file("/index.json", canonical(self));
  layout.file("/blobs/sha256/abc", canonical(self));
  EXPECT_THAT(recorded_failures(layout.string(), kBuilt), IsEmpty());
}

}  // namespace
}  // namespace slipway::driver
