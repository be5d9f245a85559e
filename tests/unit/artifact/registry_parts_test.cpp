// SPDX-License-Identifier: Apache-2.0
// The texts that the registry client reads and writes without a network: references, challenges, tags.
#include <gtest/gtest.h>

#include "artifact/registry/http/reference.hpp"
#include "artifact/registry/login/authorizer.hpp"
#include "artifact/registry/retry.hpp"
#include "artifact/registry/tags.hpp"

namespace slipway::artifact {
namespace {

TEST(Reference, IsTakenApart) {
  const auto reference = parse_reference("oci://registry.example:5000/nvidia/driver_x/a--b");
  ASSERT_TRUE(reference);
  EXPECT_EQ(reference->host, "registry.example");
  EXPECT_EQ(reference->port, "5000");
  EXPECT_EQ(reference->name, "nvidia/driver_x/a--b");
  EXPECT_EQ(reference->authority(), "registry.example:5000");
  EXPECT_EQ(parse_reference("oci://[::1]:5000/x")->host, "[::1]");
}

TEST(Reference, IsRefusedWhenItsNameBreaksTheGrammar) {
  for (const char* repository :
       {"oci://", "oci://host", "oci:///x", "oci://host/", "oci://host/Upper", "oci://host/a//b", "oci://host/a/",
        "oci://host/-a", "oci://host/a-", "oci://host/a___b", "oci://host/a..b", "oci://host/a/../b",
        "oci://host:99999999/x", "oci://host:/x", "oci://user@host/x", "oci://ho st/x", "oci://-host/x"})
    EXPECT_FALSE(parse_reference(repository)) << repository;
}

TEST(Reference, ErrorSaysWhereTagAndDigestBelong) {
  EXPECT_NE(parse_reference("oci://host/name:tag").error().next.find("tag:"), std::string::npos);
  EXPECT_NE(parse_reference("oci://host/name@sha256:1").error().next.find("digest:"), std::string::npos);
}

TEST(Reference, KnowsThisMachine) {
  EXPECT_TRUE(is_loopback_host("localhost"));
  EXPECT_TRUE(is_loopback_host("127.1.2.3"));
  EXPECT_TRUE(is_loopback_host("[::1]"));
  EXPECT_FALSE(is_loopback_host("127.example.com"));
  EXPECT_FALSE(is_loopback_host("128.0.0.1"));
}

TEST(Challenge, IsTakenApartWithQuotesAndWithout) {
  const Challenge challenge = parse_challenge("BEARER realm=\"https://a/t?x=1,2\", Service=reg ,scope=\"a \\\"b\\\"\"");
  EXPECT_EQ(challenge.scheme, "bearer");
  EXPECT_EQ(challenge.parameters.at("realm"), "https://a/t?x=1,2");
  EXPECT_EQ(challenge.parameters.at("service"), "reg");
  EXPECT_EQ(challenge.parameters.at("scope"), "a \"b\"");
  EXPECT_TRUE(parse_challenge("").scheme.empty());
  EXPECT_EQ(parse_challenge("Basic").scheme, "basic");
  EXPECT_EQ(parse_challenge("Bearer realm=\"unterminated").parameters.at("realm"), "unterminated");
}

TEST(Tag, HasAGrammarAndALength) {
  EXPECT_TRUE(is_tag("535.261.03-6.1.0-50-amd64-debian12-open"));
  EXPECT_TRUE(is_tag(std::string(128, 'a')));
  for (const std::string& tag : {std::string(), std::string(129, 'a'), std::string("6.12+deb12"), std::string("-a"),
                                 std::string(".a"), std::string("a/b"), std::string("a b")})
    EXPECT_FALSE(is_tag(tag)) << tag;
}

TEST(Tag, OfASignatureIsKnown) {
  EXPECT_TRUE(is_companion_tag("sha256-" + std::string(64, '0') + ".sig"));
  EXPECT_TRUE(is_companion_tag("sha256-" + std::string(64, '0')));
  EXPECT_FALSE(is_companion_tag("sha256-" + std::string(64, 'z')));
  EXPECT_FALSE(is_companion_tag("sha256-1"));
}

TEST(NextPage, IsReadFromTheLinkHeader) {
  HttpResponse response;
  EXPECT_EQ(next_link(response), "");
  response.headers = {{"link", "</v2/x/tags/list?last=b&n=2>; rel=\"next\""}};
  EXPECT_EQ(resolve_url("https://r:5000/v2/x/tags/list", next_link(response)),
            "https://r:5000/v2/x/tags/list?last=b&n=2");
  response.headers = {{"link", "</v2/x>; rel=\"prev\""}};
  EXPECT_EQ(next_link(response), "");
}

TEST(Url, IsResolvedToHttpOnly) {
  EXPECT_EQ(resolve_url("https://a/b", "file:///etc/passwd"), "");
  EXPECT_EQ(resolve_url("https://a/b", "//c/d"), "https://c/d");
  EXPECT_EQ(origin_of_url("https://a/b"), "https://a:443");
  EXPECT_NE(origin_of_url("https://a:444/b"), origin_of_url("https://a/b"));
}

TEST(RetryAfter, IsSecondsOrADate) {
  HttpResponse response;
  EXPECT_FALSE(retry_after(response));
  response.headers = {{"retry-after", "7"}};
  EXPECT_EQ(retry_after(response), std::chrono::seconds(7));
  response.headers = {{"retry-after", "Thu, 01 Jan 1970 00:00:00 GMT"}};
  EXPECT_EQ(retry_after(response), std::chrono::seconds(0));
  response.headers = {{"retry-after", "soon"}};
  EXPECT_FALSE(retry_after(response));
}

}  // namespace
}  // namespace slipway::artifact
