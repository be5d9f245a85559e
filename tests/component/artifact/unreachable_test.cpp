// SPDX-License-Identifier: Apache-2.0
// Registries that cannot be reached: the message names the registry, the reason and the way out.
#include <gtest/gtest.h>

#include "artifact/oci/catalogue.hpp"
#include "tests/component/artifact/support/docker_registry.hpp"
#include "tests/component/artifact/support/layout_registry.hpp"
#include "tests/component/artifact/support/sample_package.hpp"

namespace slipway::artifact {
namespace {

using test::TempDir;

Result<Catalogue> read(Source source) {
  static TempDir cache;
  OriginContext context{.cache = cache.path(), .reporter = {}};
  source.trust_unsigned = true;
  SLIPWAY_TRY(origin, open_registry(source, context, test::quick_settings()));
  return read_catalogue(*origin, source, {}, context.reporter);
}

/// Sets a proxy variable for the duration of a test.
struct Variable {
  const char* name;
  Variable(const char* which, const std::string& value) : name(which) { ::setenv(which, value.c_str(), 1); }
  ~Variable() { ::unsetenv(name); }
};

// Before the fix, five attempts took 8.5 seconds, although a refused connection is refused a moment later too.
TEST(UnreachableRegistry, IsAskedOnceAndNamedWithItsPortWhenNoProcessListens) {
  const std::string authority = "127.0.0.1:" + std::to_string(test::free_port());
  const auto catalogue = read({.repository = "oci://" + authority + "/x"});
  ASSERT_FALSE(catalogue);
  EXPECT_EQ(catalogue.error().code, ErrorCode::unreachable);
  const std::string text = to_text(catalogue.error());
  EXPECT_NE(text.find(authority), std::string::npos) << text;
  EXPECT_NE(text.find("the connection is refused"), std::string::npos) << text;
  EXPECT_EQ(text.find("https://"), std::string::npos) << "one on loopback is asked without TLS as well: " << text;
  EXPECT_EQ(text.find("tried:"), std::string::npos) << text;
}

TEST(UnreachableRegistry, IsAskedAgainWhenItIsBusy) {
  test::SamplePackage package;
  int asked = 0;
  const test::LayoutRegistry registry(package.layout, [&asked](const test::ServedRequest& request) {
    if (request.target == "/v2/" || ++asked > 1) return std::optional<test::ServedResponse>();
    return std::optional(test::registry_error(503, "UNAVAILABLE", "later"));
  });
  EXPECT_TRUE(read({.repository = registry.repository()}));
  EXPECT_EQ(registry.server().count("GET", "/v2/nvidia/driver/tags"), 2);
}

// Before the fix, there were five attempts of fifteen seconds each: a plan took 83 s.
TEST(UnreachableRegistry, ThatNeverAnswersIsGivenUpAfterOneLimitForAllAttempts) {
  const test::HttpServer server([](const test::ServedRequest&) { return test::ServedResponse{.hang = true}; });
  ClientSettings settings = test::quick_settings();
  settings.retry = {.attempts = 1000, .first_pause = std::chrono::milliseconds(1)};
  settings.http.silence = std::chrono::seconds(1);
  const TempDir cache;
  const OriginContext context{.cache = cache.path(), .reporter = {}};
  const Source source{.repository = "oci://" + server.authority() + "/x", .insecure = true, .trust_unsigned = true};
  const auto origin = open_registry(source, context, settings);
  ASSERT_TRUE(origin) << to_text(origin.error());
  const auto catalogue = read_catalogue(**origin, source, {}, context.reporter);
  ASSERT_FALSE(catalogue);
  EXPECT_EQ(catalogue.error().code, ErrorCode::timed_out) << to_text(catalogue.error());
  EXPECT_LE(server.requests().size(), 2U);
}

TEST(UnreachableRegistry, IsNamedWhenItDoesNotResolve) {
  const auto catalogue = read({.repository = "oci://registry.invalid:5000/x"});
  ASSERT_FALSE(catalogue);
  const std::string text = to_text(catalogue.error());
  EXPECT_NE(text.find("https://registry.invalid:5000"), std::string::npos) << text;
  EXPECT_NE(text.find("esolv"), std::string::npos) << text;
  EXPECT_EQ(text.find("tried:"), std::string::npos) << text;
}

TEST(UnreachableRegistry, IsReachedThroughAProxyAndTheProxyIsNamedWhenThatFails) {
  test::SamplePackage package;
  const test::LayoutRegistry behind(package.layout);
  // A plain HTTP proxy receives the absolute URL; this one answers as if it were the registry.
  test::HttpServer proxy([&](test::ServedRequest request) {
    const std::string prefix = "http://registry.invalid:5000";
    if (!request.target.starts_with(prefix)) return test::ServedResponse{.status = 502};
    request.target = request.target.substr(prefix.size());
    return behind.answer(request);
  });
  const Source source{.repository = "oci://registry.invalid:5000/nvidia/driver", .insecure = true};
  {
    const Variable variable("http_proxy", "http://user:geheim@" + proxy.authority());
    const auto catalogue = read(source);
    ASSERT_TRUE(catalogue) << to_text(catalogue.error());
    EXPECT_EQ(catalogue->entries.size(), 2U);
  }
  const std::string nobody = "127.0.0.1:" + std::to_string(test::free_port());
  const Variable variable("http_proxy", "http://user:geheim@" + nobody);
  const auto failed = read(source);
  ASSERT_FALSE(failed);
  const std::string text = to_text(failed.error());
  EXPECT_NE(text.find("http_proxy=http://" + nobody), std::string::npos) << text;
  EXPECT_EQ(text.find("geheim"), std::string::npos) << "a proxy's password is not printed: " << text;
}

TEST(UnreachableRegistry, IsNotAskedThroughAProxyWhenNoProxyNamesIt) {
  test::HttpServer proxy([](const test::ServedRequest&) { return test::ServedResponse{.status = 502}; });
  const Variable http("http_proxy", proxy.url());
  const Variable none("no_proxy", "registry.invalid");
  EXPECT_FALSE(read({.repository = "oci://registry.invalid:5000/nvidia/driver", .insecure = true}));
  EXPECT_TRUE(proxy.requests().empty());
}

TEST(UnreachableRegistry, OnThisMachineIsNeverAskedThroughAProxy) {
  test::SamplePackage package;
  const test::LayoutRegistry registry(package.layout);
  test::HttpServer proxy([](const test::ServedRequest&) { return test::ServedResponse{.status = 502}; });
  const Variable http("http_proxy", proxy.url());
  EXPECT_TRUE(read({.repository = registry.repository()}));
  EXPECT_TRUE(proxy.requests().empty());
}

TEST(UnreachableRegistry, WithAnUnknownCertificateExplainsHowToNameItsCa) {
  const test::DockerRegistry registry({.tls = true, .login = false});
  const auto catalogue = read({.repository = registry.repository("x")});
  ASSERT_FALSE(catalogue);
  EXPECT_EQ(catalogue.error().code, ErrorCode::denied);
  EXPECT_NE(catalogue.error().next.find("ca"), std::string::npos) << to_text(catalogue.error());
}

TEST(UnreachableRegistry, WithAWrongCaFileExplainsErrorsOfIt) {
  TempDir dir;
  test::write_file(dir / "no.pem", "no certificate");
  const auto wrong = read({.repository = "oci://127.0.0.1:1/x", .ca_file = dir / "no.pem"});
  EXPECT_EQ(wrong.error().code, ErrorCode::invalid);
  const auto missing = read({.repository = "oci://127.0.0.1:1/x", .ca_file = dir / "missing.pem"});
  EXPECT_EQ(missing.error().code, ErrorCode::not_found);
}

TEST(UnreachableRegistry, ThatKeepsFailingIsReportedWithItsMessage) {
  test::SamplePackage package;
  const test::LayoutRegistry registry(package.layout, [](const test::ServedRequest& request) {
    return request.target == "/v2/" ? std::nullopt
                                    : std::optional(test::registry_error(500, "UNKNOWN", "disk on fire"));
  });
  const auto catalogue = read({.repository = registry.repository()});
  ASSERT_FALSE(catalogue);
  EXPECT_EQ(catalogue.error().code, ErrorCode::unreachable);
  EXPECT_NE(to_text(catalogue.error()).find("UNKNOWN: disk on fire"), std::string::npos);
  EXPECT_EQ(registry.server().count("GET", "/v2/nvidia/driver/tags"), 3);
}

TEST(UnreachableRegistry, WithoutTheRepositoryShowsTheCommandThatPushesOne) {
  test::SamplePackage package;
  const test::LayoutRegistry registry(package.layout, [](const test::ServedRequest& request) {
    return request.target == "/v2/" ? std::nullopt
                                    : std::optional(test::registry_error(404, "NAME_UNKNOWN", "unknown"));
  });
  const auto catalogue = read({.repository = registry.repository()});
  ASSERT_FALSE(catalogue);
  EXPECT_NE(catalogue.error().next.find("`slipway pkg push LAYOUT --to " + registry.repository() + "`"),
            std::string::npos)
      << to_text(catalogue.error());
}

}  // namespace
}  // namespace slipway::artifact
