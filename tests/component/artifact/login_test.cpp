// SPDX-License-Identifier: Apache-2.0
// Registries that require a login: Basic, tokens, refresh tokens, helpers; and the servers that a password is not sent
// to.
#include <csignal>

#include <gtest/gtest.h>
#include <sys/stat.h>

#include "artifact/registry/login/credentials.hpp"
#include "tests/component/artifact/support/layout_registry.hpp"
#include "tests/component/artifact/support/sample_package.hpp"

namespace slipway::artifact {
namespace {

using test::HttpServer;
using test::LayoutRegistry;
using test::SamplePackage;
using test::ServedRequest;
using test::ServedResponse;

const std::string kBasic = "Basic c2xpcHdheTpnZWhlaW0=";  // slipway:geheim

ServedResponse challenge(const std::string& text) {
  return {.status = 401, .headers = {{"WWW-Authenticate", text}}, .body = "{\"errors\":[{\"code\":\"UNAUTHORIZED\"}]}"};
}

class Login : public testing::Test {
 protected:
  void SetUp() override {
    for (const char* name : {"REGISTRY_AUTH_FILE", "DOCKER_CONFIG", "XDG_RUNTIME_DIR"}) ::unsetenv(name);
    ::setenv("HOME", package.dir.path().c_str(), 1);
  }

  /// Starts a registry that requires `authorization()` and otherwise answers with this challenge.
  void start(const std::string& text) {
    registry = std::make_unique<LayoutRegistry>(
        package.layout, [this, text](const ServedRequest& request) -> std::optional<ServedResponse> {
          if (request.target == "/v2/" || request.header("authorization") == wanted) return {};
          return challenge(text);
        });
  }
  void start_with_token_service(const std::string& realm_path = "/token") {
    start("Bearer realm=\"" + service.url() + realm_path +
          "\",service=\"registry, of \\\"tests\\\"\",scope=\"repository:nvidia/driver:pull\"");
  }
  void log_in(const std::string& file, const Json& entry) {
    test::write_file(file, canonical({{"auths", {{registry->server().authority(), entry}}}}));
  }
  Result<Fetched> fetch() {
    context.cache = package.cache();
    SLIPWAY_TRY(origin, open_registry({.repository = registry->repository(), .auth_file = auth_file}, context,
                                      test::quick_settings()));
    return origin->fetch({package.descriptor(package.user)});
  }

  SamplePackage package;
  OriginContext context;
  std::string auth_file;
  std::string wanted = kBasic;
  Json token_answer{{"token", "t1"}};
  HttpServer service{[this](const ServedRequest&) { return ServedResponse{.body = canonical(token_answer)}; }};
  std::unique_ptr<LayoutRegistry> registry;
};

TEST_F(Login, ByUserAndPasswordFromDockersConfig) {
  start("Basic realm=\"x\"");
  log_in(package.dir / ".docker/config.json", {{"auth", "c2xpcHdheTpnZWhlaW0="}});
  const auto fetched = fetch();
  EXPECT_TRUE(fetched) << to_text(fetched.error());
}

TEST_F(Login, FromTheFileThatTheSourceNames) {
  start("Basic realm=\"x\"");
  auth_file = package.dir / "mine.json";
  log_in(auth_file, {{"username", "slipway"}, {"password", "geheim"}});
  EXPECT_TRUE(fetch());
}

TEST_F(Login, FromEveryPlaceThatDockerAndPodmanUse) {
  start("Basic realm=\"x\"");
  const std::vector<std::pair<const char*, std::string>> places{
      {"REGISTRY_AUTH_FILE", ""}, {"DOCKER_CONFIG", "/config.json"}, {"XDG_RUNTIME_DIR", "/containers/auth.json"}};
  for (const auto& [variable, file] : places) {
    const std::string value = package.dir / variable;
    log_in(value + file, {{"auth", "c2xpcHdheTpnZWhlaW0="}});
    ::setenv(variable, value.c_str(), 1);
    const auto fetched = fetch();
    EXPECT_TRUE(fetched) << variable << "\n" << to_text(fetched.error());
    ::unsetenv(variable);
    std::filesystem::remove_all(package.cache());
  }
}

TEST_F(Login, ByACredentialHelper) {
  start("Basic realm=\"x\"");
  const std::string helper = package.dir / "bin/docker-credential-test";
  test::write_file(helper, "#!/bin/sh\nread host; echo \"$host\" > " + (package.dir / "asked") +
                               "\necho '{\"Username\":\"slipway\",\"Secret\":\"geheim\"}'\n");
  ::chmod(helper.c_str(), 0755);
  const std::string path = ::getenv("PATH");
  ::setenv("PATH", ((package.dir / "bin:") + path).c_str(), 1);
  for (const Json& config :
       {Json{{"credHelpers", {{registry->server().authority(), "test"}}}}, Json{{"credsStore", "test"}}}) {
    test::write_file(package.dir / ".docker/config.json", canonical(config));
    std::filesystem::remove_all(package.cache());
    const auto fetched = fetch();
    EXPECT_TRUE(fetched) << to_text(fetched.error());
    EXPECT_EQ(test::file_text(package.dir / "asked"), registry->server().authority() + "\n");
  }
  ::setenv("PATH", path.c_str(), 1);
}

// Before the fix, slipway waited for the helper's exit after its complete answer, with the lock held.
TEST_F(Login, ACredentialHelperThatContinuesOrFloodsIsEnded) {
  const std::string path = ::getenv("PATH");
  ::setenv("PATH", ((package.dir / "bin:") + path).c_str(), 1);
  const std::string helper = package.dir / "bin/docker-credential-test";
  const std::string pid = package.dir / "pid";
  test::write_file(helper, "#!/bin/sh\necho $$ > " + pid + "\necho '{}'\nexec >/dev/null\nexec sleep 1000\n");
  ::chmod(helper.c_str(), 0755);
  const auto goes_on = ask_helper("test", "registry", std::chrono::seconds(2));
  ASSERT_FALSE(goes_on);
  EXPECT_EQ(goes_on.error().code, ErrorCode::timed_out);
  EXPECT_NE(goes_on.error().what.find("docker-credential-test did not end within 2 s"), std::string::npos);
  EXPECT_NE(::kill(std::stoi(test::file_text(pid)), 0), 0) << "it was killed";
  test::write_file(helper, "#!/bin/sh\nexec yes\n");
  const auto floods = ask_helper("test", "registry", std::chrono::seconds(60));
  ASSERT_FALSE(floods);
  EXPECT_EQ(floods.error().code, ErrorCode::invalid) << floods.error().what;
  ::setenv("PATH", path.c_str(), 1);
}

// Before the fix, every failure to run a helper was reported as a missing helper.
TEST_F(Login, ExplainsWhyAnExistingHelperCannotBeRun) {
  const std::string path = ::getenv("PATH");
  ::setenv("PATH", ((package.dir / "bin:") + path).c_str(), 1);
  const std::string helper = package.dir / "bin/docker-credential-test";
  test::write_file(helper, "#!/bin/sh\necho '{}'\n");
  ::chmod(helper.c_str(), 0755);
  const auto asked = ask_helper("test", std::string(std::size_t{2} << 20U, 'x'), std::chrono::seconds(60));
  ASSERT_FALSE(asked);
  EXPECT_EQ(asked.error().what.find("PATH"), std::string::npos) << asked.error().what;
  EXPECT_NE(asked.error().what.find("docker-credential-test cannot be run: "), std::string::npos);
  ::setenv("PATH", path.c_str(), 1);
}

TEST_F(Login, NamesTheHelperThatIsMissing) {
  start("Basic realm=\"x\"");
  test::write_file(package.dir / ".docker/config.json", R"({"credsStore": "nosuchhelper"})");
  const auto fetched = fetch();
  ASSERT_FALSE(fetched);
  EXPECT_NE(fetched.error().what.find("docker-credential-nosuchhelper"), std::string::npos);
}

TEST_F(Login, SaysThatNoneIsConfigured) {
  start("Basic realm=\"x\"");
  const auto fetched = fetch();
  ASSERT_FALSE(fetched);
  EXPECT_EQ(fetched.error().code, ErrorCode::denied);
  const std::string text = to_text(fetched.error());
  EXPECT_NE(text.find("none is configured for " + registry->server().authority()), std::string::npos) << text;
  EXPECT_NE(text.find("login"), std::string::npos) << text;
}

TEST_F(Login, NamesUserAndSourceOfAWrongPasswordButNotThePassword) {
  start("Basic realm=\"x\"");
  wanted = "Basic something-else";
  log_in(package.dir / ".docker/config.json", {{"auth", "c2xpcHdheTpnZWhlaW0="}});
  const auto fetched = fetch();
  ASSERT_FALSE(fetched);
  EXPECT_EQ(fetched.error().code, ErrorCode::denied);
  const std::string text = to_text(fetched.error());
  EXPECT_EQ(text.find("geheim"), std::string::npos) << text;
  EXPECT_EQ(text.find("c2xpcHdheTpnZWhlaW0"), std::string::npos) << text;
}

TEST_F(Login, GetsATokenAnonymously) {
  start_with_token_service();
  wanted = "Bearer t1";
  const auto fetched = fetch();
  ASSERT_TRUE(fetched) << to_text(fetched.error());
  ASSERT_EQ(service.requests().size(), 1U);
  EXPECT_EQ(service.requests()[0].target,
            "/token?service=registry%2C%20of%20%22tests%22&scope=repository%3Anvidia%2Fdriver%3Apull");
  EXPECT_EQ(service.requests()[0].header("authorization"), "");
}

TEST_F(Login, GetsATokenWithThePasswordOfTheRegistry) {
  start_with_token_service("/token?account=me");
  wanted = "Bearer t2";
  token_answer = {{"access_token", "t2"}};
  log_in(package.dir / ".docker/config.json", {{"auth", "c2xpcHdheTpnZWhlaW0="}});
  ASSERT_TRUE(fetch());
  EXPECT_EQ(service.requests()[0].header("authorization"), kBasic);
  EXPECT_TRUE(service.requests()[0].target.starts_with("/token?account=me&service="));
}

TEST_F(Login, TradesARefreshTokenForAToken) {
  start_with_token_service();
  wanted = "Bearer t1";
  log_in(package.dir / ".docker/config.json", {{"identitytoken", "refresh me"}});
  ASSERT_TRUE(fetch());
  const ServedRequest asked = service.requests()[0];
  EXPECT_EQ(asked.method, "POST");
  EXPECT_NE(asked.body.find("grant_type=refresh_token"), std::string::npos);
  EXPECT_NE(asked.body.find("refresh_token=refresh%20me"), std::string::npos);
}

TEST_F(Login, GetsANewTokenWhenOneExpiresInTheMiddleOfABlob) {
  std::atomic<int> tokens = 0;
  HttpServer short_lived([&](const ServedRequest&) {
    return ServedResponse{.body = canonical({{"token", "t" + std::to_string(++tokens)}})};
  });
  LayoutRegistry* self = nullptr;
  registry = std::make_unique<LayoutRegistry>(
      package.layout, [&](const ServedRequest& request) -> std::optional<ServedResponse> {
        if (request.target == "/v2/") return {};
        const std::string token = request.header("authorization");
        const bool first_part = request.header("range").empty();
        if (token != (first_part ? "Bearer t1" : "Bearer t2"))
          return challenge("Bearer realm=\"" + short_lived.url() + "/token\",service=\"s\"");
        ServedResponse response = self->answer(request);
        if (first_part) response.cut_after = 100'000;
        return response;
      });
  self = registry.get();
  const auto fetched = fetch();
  ASSERT_TRUE(fetched) << to_text(fetched.error());
  EXPECT_EQ(tokens, 2);
  EXPECT_EQ(fetched->bytes, package.user["size"].get<std::uint64_t>());
}

TEST_F(Login, DoesNotSendAPasswordToATokenServiceWithoutTls) {
  start("Bearer realm=\"http://tokens.invalid/token\",service=\"s\"");
  log_in(package.dir / ".docker/config.json", {{"auth", "c2xpcHdheTpnZWhlaW0="}});
  const auto fetched = fetch();
  ASSERT_FALSE(fetched);
  EXPECT_EQ(fetched.error().code, ErrorCode::denied);
  EXPECT_NE(fetched.error().what.find("http://tokens.invalid:80"), std::string::npos) << fetched.error().what;
}

TEST_F(Login, RefusesATokenThatWouldSmuggleInAHeader) {
  start_with_token_service();
  token_answer = {{"token", "t1\r\nX-Evil: 1"}};
  const auto fetched = fetch();
  ASSERT_FALSE(fetched);
  EXPECT_EQ(fetched.error().code, ErrorCode::denied);
}

TEST_F(Login, StopsWhenTheTokenServiceKeepsGivingUselessTokens) {
  start_with_token_service();
  wanted = "Bearer never";
  const auto fetched = fetch();
  ASSERT_FALSE(fetched);
  EXPECT_EQ(fetched.error().code, ErrorCode::denied);
  EXPECT_EQ(service.requests().size(), 1U);
}

}  // namespace
}  // namespace slipway::artifact
