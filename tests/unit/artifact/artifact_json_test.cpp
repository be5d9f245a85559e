// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "artifact/oci/artifact.hpp"
#include "artifact/oci/digest.hpp"
#include "artifact/oci/json_field.hpp"

namespace slipway::artifact {
namespace {

const std::string kDigest = "sha256:" + std::string(64, 'a');

TEST(ArtifactSource, MayBeAString) {
  const auto source = source_from_json("oci://reg:5000/nvidia/driver");
  ASSERT_TRUE(source);
  EXPECT_EQ(source->repository, "oci://reg:5000/nvidia/driver");
  EXPECT_TRUE(source->is_registry());
  EXPECT_FALSE(source->trust_unsigned);
}

TEST(ArtifactSource, IsReadWithAllItsKeys) {
  const Json all{{"repository", "oci://reg/x"}, {"tag", "1"},      {"digest", kDigest},   {"insecure", true},
                 {"trust", "unsigned"},         {"ca", "/ca.pem"}, {"auth", "/auth.json"}};
  const auto source = source_from_json(all);
  ASSERT_TRUE(source);
  EXPECT_EQ(source->repository, "oci://reg/x");
  EXPECT_EQ(source->tag, "1");
  EXPECT_EQ(source->digest, kDigest);
  EXPECT_TRUE(source->insecure && source->trust_unsigned);
  EXPECT_EQ(source->ca_file + source->auth_file, "/ca.pem/auth.json");
}

TEST(ArtifactSource, NamesTheKeyThatIsInvalid) {
  const std::vector<std::pair<Json, std::string>> wrong{
      {{{"repository", "oci://r/x"}, {"digset", "x"}}, "digset"},
      {{{"repository", "oci://r/x"}, {"digest", "sha256:123"}}, "digest"},
      {{{"repository", "oci://r/x"}, {"trust", "always"}}, "trust"},
      {{{"repository", "oci://r/x"}, {"insecure", "yes"}}, "insecure"},
      {{{"repository", "https://r/x"}}, "repository"},
      {{{"tag", "1"}}, "repository"},
      {7, "repository"},
  };
  for (const auto& [value, key] : wrong) {
    const auto source = source_from_json(value);
    ASSERT_FALSE(source) << value;
    EXPECT_EQ(source.error().code, ErrorCode::invalid);
    EXPECT_EQ(source.error().where, key) << value;
  }
}

TEST(ArtifactSource, ExplainsHowAnHttpsAddressIsWritten) {
  EXPECT_NE(source_from_json("https://reg/x").error().next.find("oci://reg/x"), std::string::npos);
}

TEST(Digest, IsLowerCaseHexOfFullLength) {
  EXPECT_TRUE(is_digest(kDigest));
  EXPECT_FALSE(is_digest("sha256:" + std::string(64, 'A')));
  EXPECT_FALSE(is_digest("sha256:" + std::string(63, 'a')));
  EXPECT_FALSE(is_digest("sha512:" + std::string(64, 'a')));
  EXPECT_FALSE(is_digest("sha256:" + std::string(61, 'a') + "/.."));
}

TEST(OutsideJson, IsRefusedWhenItNestsDeeply) {
  EXPECT_TRUE(parse_json(std::string(60, '[') + std::string(60, ']'), "x"));
  const std::string deep(1'000'000, '[');
  const auto parsed = parse_json(deep, "the manifest");
  ASSERT_FALSE(parsed);
  EXPECT_EQ(parsed.error().what, "the manifest is nested too deeply");
}

TEST(OutsideJson, IsRefusedWithADuplicateKey) {
  EXPECT_FALSE(parse_json(R"({"layers":[],"a":{"layers":1},"layers":[1]})", "x"));
  EXPECT_TRUE(parse_json(R"({"layers":[],"a":{"layers":1}})", "x"));
}

}  // namespace
}  // namespace slipway::artifact
