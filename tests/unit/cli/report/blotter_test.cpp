// SPDX-License-Identifier: Apache-2.0
#include "cli/report/blotter.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace slipway::core {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

class ASecret : public ::testing::TestWithParam<const char*> {};

TEST_P(ASecret, IsBlottedOut) {
  const std::string blotted = Blotter().blot(GetParam());
  EXPECT_THAT(blotted, Not(HasSubstr("hunter2")));
  EXPECT_THAT(blotted, HasSubstr(Blotter::kBlot));
}

INSTANTIATE_TEST_SUITE_P(
    InEveryPlace, ASecret,
    ::testing::Values("password: hunter2", "password: two words hunter2", "  Password = 'x hunter2'",
                      "PASSWORD=hunter2", "REGISTRY_PASSWORD=first hunter2", "export REGISTRY_TOKEN=a,b hunter2",
                      R"({"password": "hunter2"})", R"({"auths": {"r.example": {"auth": "aHVudGVyhunter2"}}})",
                      R"({"secret": {"name": "hunter2"}})", R"({"tokens": ["a", "hunter2"]})",
                      R"({"content": "password = \"hunter2\"\n"})", R"({"content": "{\"token\": \"hunter2\"}"})",
                      R"(text with {\"identitytoken\": \"hunter2\"} in it)", R"(  auth = "a\"b hunter2")",
                      "{user: me, password: hunter2}", "password: |\n  first\n  hunter2\nuser: x",
                      "auth:\n  user: x\n  word: hunter2\n", "tokens: [\n    one,\n    hunter2\n]",
                      "oci://user:hunter2@registry.example/name", "https://hunter2@host/", "http://u:p@hunter2@h:3128",
                      "GET /x?a=b&token=hunter2 failed", "https://s3.example/o?X-Amz-Signature=hunter2",
                      "Authorization: Bearer hunter2", "sent header Bearer hunter2.abc", "basic dXNlcjpohunter2",
                      "curl --password hunter2 x", "--registry-token=hunter2", "api_key: hunter2", "SIG=hunter2",
                      "-----BEGIN RSA PRIVATE KEY-----\nMIhunter2\nhunter2==\n-----END RSA PRIVATE KEY-----",
                      "-----BEGIN PRIVATE KEY-----\nhunter2", "id eyJhunter2.eyJzdWIi.c2ln used",
                      "[plugins.cri.registry.configs.\"r\".auth]\n  password = \"hunter2\""));

class NoSecret : public ::testing::TestWithParam<const char*> {};

TEST_P(NoSecret, StaysAsItIs) { EXPECT_EQ(Blotter().blot(GetParam()), GetParam()); }

INSTANTIATE_TEST_SUITE_P(InPlainText, NoSecret,
                         ::testing::Values("driver: 6 changes", "oci://registry.example/nvidia/driver@sha256:00ff",
                                           "digest: sha256:00ff", "  pass  driver.kernel: 6.1.0-50-amd64",
                                           "mail to someone@example.com", "authors: somebody", "config: all-balanced",
                                           "-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----"));

TEST(Blotter, BlotsWhatItLearnedWhereverItStands) {
  Blotter blotter;
  blotter.learn("source: oci://me:hunter2%21x@registry.example/driver");
  blotter.learn(R"({"auths": {"r.example": {"auth": "bWU6Y29ycmVjdGhvcnNl"}}})");  // me:correcthorse
  const std::string blotted = blotter.blot("cannot log in as me with hunter2!x, nor hunter2%21x, nor correcthorse");
  EXPECT_THAT(blotted, Not(HasSubstr("hunter2")));
  EXPECT_THAT(blotted, Not(HasSubstr("correcthorse")));
  EXPECT_THAT(blotted, HasSubstr("cannot log in as me"));
}

TEST(Blotter, KeepsJsonAsJsonWithAllElseInIt) {
  const std::string blotted = Blotter().blot(R"({"a": [1, "x"], "password": "hunter2", "b": {"token": null}})");
  EXPECT_EQ(Json::parse(blotted), Json::parse(R"({"a": [1, "x"], "password": "[blotted out]", "b": {"token": null}})"));
}

TEST(Blotter, StandsBytesThatAreNoText) {
  const std::string bytes = std::string("\xff\xfe password: \xff hunter2\n\0 x", 27);
  EXPECT_THAT(Blotter().blot(bytes), Not(HasSubstr("hunter2")));
}

}  // namespace
}  // namespace slipway::core
