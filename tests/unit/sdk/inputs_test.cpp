// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <slipway/inputs.hpp>
#include <slipway/spec.hpp>

namespace slipway {
namespace {

Inputs example() {
  return Inputs(Json::parse(R"({
    "target": {"kernel_release": "6.1.0-50-amd64", "live": true, "arch": "x86_64", "hardware": "require"},
    "outputs": {"driver": {"version": "535.261.03", "driver_root": "/usr/lib/slipway/store/driver/current"}},
    "catalogues": {"source": {"source": "oci://registry/driver", "complete": false, "entries": [
      {"digest": "sha256:1", "tag": "535.261.03", "artifactType": "application/vnd.slipway.driver.v1",
       "annotations": {"dev.slipway.version": "535.261.03"},
       "layers": [{"digest": "sha256:2", "annotations": {"dev.slipway.layer": "userspace"}}, {"digest": "sha256:3"}]}]}}
  })"));
}

TEST(Inputs, DescribeTheTarget) {
  const Inputs inputs = example();
  EXPECT_EQ(inputs.target().kernel_release, "6.1.0-50-amd64");
  EXPECT_TRUE(inputs.target().kernel_problem.is_null());
  EXPECT_TRUE(inputs.target().live);
  EXPECT_EQ(inputs.target().hardware, "require");
}

TEST(Inputs, GiveTheOutputsOfOtherComponents) {
  EXPECT_EQ(example().output("driver", "version"), "535.261.03");
  EXPECT_TRUE(example().output("driver", "flavour").is_null());
  EXPECT_TRUE(example().output("toolkit", "version").is_null());
}

TEST(Inputs, GiveTheCatalogueOfASource) {
  const Result<Catalogue> catalogue = example().catalogue("source");
  ASSERT_TRUE(catalogue.ok());
  EXPECT_FALSE(catalogue->complete);
  ASSERT_EQ(catalogue->entries.size(), 1U);
  const CatalogueEntry& entry = catalogue->entries[0];
  EXPECT_EQ(entry.annotation("dev.slipway.version"), "535.261.03");
  EXPECT_EQ(entry.annotation("none"), "");
  EXPECT_EQ(entry.layer("userspace")["digest"], "sha256:2");
  EXPECT_TRUE(entry.layer("modules").is_null());
}

TEST(Inputs, SayThatNoSourceIsNamed) {
  const Result<Catalogue> catalogue = example().catalogue("firmware.source");
  EXPECT_EQ(catalogue.error().code, ErrorCode::not_found);
  EXPECT_EQ(catalogue.error().where, "firmware.source");
}

TEST(Inputs, OfNothingAreEmpty) {
  const Inputs inputs;
  EXPECT_EQ(inputs.target().kernel_release, "");
  EXPECT_FALSE(inputs.target().live);
  EXPECT_FALSE(Inputs(Json("text")).catalogue("source").ok());
}

TEST(Spec, IsReadByDottedKeys) {
  const Spec spec(Json::parse(R"({"version": "535", "source": {"repository": "oci://x", "insecure": true},
                                  "gpus": ["H100", "A100"], "replicas": 4, "a.b": "dotted"})"));
  EXPECT_EQ(spec.text("source.repository"), "oci://x");
  EXPECT_TRUE(spec.flag("source.insecure"));
  EXPECT_EQ(spec.texts("gpus"), (std::vector<std::string>{"H100", "A100"}));
  EXPECT_EQ(spec.number("replicas"), 4);
  EXPECT_EQ(spec.text("a.b"), "dotted");
}

TEST(Spec, GivesAnEmptyValueForAMissingKey) {
  const Spec spec(Json{{"version", "535"}});
  EXPECT_FALSE(spec.has("source.repository"));
  EXPECT_EQ(spec.text("source.repository"), "");
  EXPECT_FALSE(spec.flag("version"));
  EXPECT_EQ(spec.number("version"), 0);
  EXPECT_TRUE(spec.texts("version").empty());
  EXPECT_TRUE(spec.value("none").is_null());
  EXPECT_EQ(spec.text("version.more"), "");
  EXPECT_EQ(spec.text(""), "");
  EXPECT_EQ(spec.text("."), "");
}

}  // namespace
}  // namespace slipway
