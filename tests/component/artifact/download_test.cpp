// SPDX-License-Identifier: Apache-2.0
// Downloads over a connection that breaks: the complete data arrives, or a message has the reason.
#include <gmock/gmock.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/component/artifact/support/layout_registry.hpp"
#include "tests/component/artifact/support/sample_package.hpp"

namespace slipway::artifact {
namespace {

using test::LayoutRegistry;
using test::registry_error;
using test::SamplePackage;
using test::ServedRequest;
using test::ServedResponse;
namespace fs = std::filesystem;

bool is_blob(const ServedRequest& request) { return request.target.find("/blobs/") != std::string::npos; }

class Download : public testing::Test {
 protected:
  /// Fetches one blob of the package from a registry with this fault.
  Result<Fetched> fetch(LayoutRegistry::Fault fault, const Json& blob) {
    registry = std::make_unique<LayoutRegistry>(package.layout, std::move(fault));
    return fetch_again({blob});
  }
  Result<Fetched> fetch_again(const std::vector<Json>& blobs) {
    context.cache = package.cache();
    const Source source{.repository = registry->repository(), .trust_unsigned = true};
    SLIPWAY_TRY(origin, open_registry(source, context, test::quick_settings()));
    std::vector<Descriptor> wanted;
    for (const Json& blob : blobs) wanted.push_back(package.descriptor(blob));
    return origin->fetch(wanted);
  }
  void expect_cached(const Json& blob) {
    EXPECT_EQ(test::file_text(package.cached(blob)), test::file_text(package.layout.blob_path(blob["digest"])));
    EXPECT_FALSE(fs::exists(package.cached(blob) + ".partial"));
  }
  std::uint64_t size_of(const Json& blob) { return blob["size"]; }

  SamplePackage package;
  OriginContext context;
  std::unique_ptr<LayoutRegistry> registry;
};

TEST_F(Download, PutsBlobsIntoTheCacheOnce) {
  registry = std::make_unique<LayoutRegistry>(package.layout);
  const std::vector<Json> all{package.user, package.modules_50, package.modules_53};
  const auto first = fetch_again(all);
  ASSERT_TRUE(first) << to_text(first.error());
  EXPECT_EQ(first->bytes, size_of(package.user) + size_of(package.modules_50) + size_of(package.modules_53));
  for (const Json& blob : all) expect_cached(blob);
  EXPECT_EQ(first->blobs[0].path, package.cached(package.user));
  const auto second = fetch_again(all);
  ASSERT_TRUE(second);
  EXPECT_EQ(second->bytes, 0U);
  EXPECT_EQ(registry->server().count("GET", "/v2/nvidia/driver/blobs/"), 3);
}

// Before the fix, a manifest that declared 2^50 bytes filled the cache's file system completely, and the partial file
// stayed.
TEST_F(Download, DoesNotBeginWithoutEnoughSpace) {
  Json blob = package.user;
  blob["size"] = std::uint64_t{1} << 50U;
  const auto fetched = fetch({}, blob);
  ASSERT_FALSE(fetched);
  EXPECT_EQ(fetched.error().code, ErrorCode::no_space);
  EXPECT_EQ(registry->server().count("GET", "/v2/nvidia/driver/blobs/"), 0);
  EXPECT_FALSE(fs::exists(package.cached(blob) + ".partial"));
}

TEST_F(Download, ContinuesWhereTheConnectionBroke) {
  LayoutRegistry* self = nullptr;
  int cuts = 0;
  registry = std::make_unique<LayoutRegistry>(package.layout, [&](const ServedRequest& request) {
    if (!is_blob(request) || cuts++ >= 4) return std::optional<ServedResponse>();
    ServedResponse response = self->answer(request);
    response.cut_after = 50'000;
    return std::optional(response);
  });
  self = registry.get();
  const auto fetched = fetch_again({package.user});
  ASSERT_TRUE(fetched) << to_text(fetched.error());
  expect_cached(package.user);
  EXPECT_EQ(fetched->bytes, size_of(package.user)) << "no byte came twice";
  EXPECT_EQ(registry->server().requests().back().header("range"), "bytes=200000-");
}

TEST_F(Download, ContinuesWithWhatAnEarlierRunLeft) {
  const std::string whole = test::file_text(package.layout.blob_path(package.user["digest"]));
  test::write_file(package.cached(package.user) + ".partial", whole.substr(0, 123'456));
  const auto fetched = fetch({}, package.user);
  ASSERT_TRUE(fetched) << to_text(fetched.error());
  EXPECT_EQ(fetched->bytes, size_of(package.user) - 123'456);
  expect_cached(package.user);
}

TEST_F(Download, StartsOverWhenTheServerDoesNotSupportRanges) {
  const std::string whole = test::file_text(package.layout.blob_path(package.user["digest"]));
  test::write_file(package.cached(package.user) + ".partial", whole.substr(0, 1'000));
  const auto fetched = fetch(
      [&](const ServedRequest& request) -> std::optional<ServedResponse> {
        if (!is_blob(request)) return {};
        return ServedResponse{.body = whole};
      },
      package.user);
  ASSERT_TRUE(fetched) << to_text(fetched.error());
  expect_cached(package.user);
}

TEST_F(Download, StartsOverWhenTheServerRefusesTheRange) {
  const std::string whole = test::file_text(package.layout.blob_path(package.user["digest"]));
  test::write_file(package.cached(package.user) + ".partial", whole.substr(0, 1'000));
  const auto fetched = fetch(
      [](const ServedRequest& request) -> std::optional<ServedResponse> {
        if (!is_blob(request) || request.header("range").empty()) return {};
        return registry_error(416, "RANGE_INVALID", "no");
      },
      package.user);
  ASSERT_TRUE(fetched) << to_text(fetched.error());
  expect_cached(package.user);
}

TEST_F(Download, StartsOverWhenThePartFromBeforeIsDamagedOrTooLong) {
  for (const std::size_t size : {std::size_t{1'000}, static_cast<std::size_t>(size_of(package.user)) + 7}) {
    fs::remove(package.cached(package.user));
    test::write_file(package.cached(package.user) + ".partial", std::string(size, 'x'));
    const auto fetched = fetch({}, package.user);
    ASSERT_TRUE(fetched) << to_text(fetched.error());
    expect_cached(package.user);
  }
}

TEST_F(Download, RefusesAWrongRange) {
  test::write_file(package.cached(package.user) + ".partial", std::string(100, 'x'));
  const auto fetched = fetch(
      [](const ServedRequest& request) -> std::optional<ServedResponse> {
        if (!is_blob(request)) return {};
        return ServedResponse{.status = 206, .headers = {{"Content-Range", "bytes 50-99/100"}}, .body = "x"};
      },
      package.user);
  ASSERT_FALSE(fetched);
  EXPECT_EQ(fetched.error().code, ErrorCode::invalid);
}

TEST_F(Download, NamesBlobAndDigestsWhenTheContentIsWrongAndKeepsNothing) {
  const auto fetched = fetch(
      [&](const ServedRequest& request) -> std::optional<ServedResponse> {
        if (!is_blob(request)) return {};
        return ServedResponse{.body = std::string(size_of(package.user), 'x')};
      },
      package.user);
  ASSERT_FALSE(fetched);
  EXPECT_EQ(fetched.error().code, ErrorCode::corrupt);
  const std::string text = to_text(fetched.error());
  EXPECT_NE(text.find("userspace"), std::string::npos) << text;
  EXPECT_NE(text.find(package.user["digest"].get<std::string>()), std::string::npos) << text;
  EXPECT_NE(text.find("got:"), std::string::npos) << text;
  EXPECT_TRUE(fs::is_empty(package.cache() + "/blobs/sha256"));
}

TEST_F(Download, RefusesABlobThatIsLongerThanItSays) {
  const auto fetched = fetch(
      [&](const ServedRequest& request) -> std::optional<ServedResponse> {
        if (!is_blob(request)) return {};
        return ServedResponse{.body = std::string(size_of(package.modules_50) + 1, 'x')};
      },
      package.modules_50);
  ASSERT_FALSE(fetched);
  EXPECT_EQ(fetched.error().code, ErrorCode::corrupt);
  EXPECT_TRUE(fs::is_empty(package.cache() + "/blobs/sha256"));
}

TEST_F(Download, GivesUpOnABlobThatStaysCutShortAndExplainsHowFarItGot) {
  const std::string whole = test::file_text(package.layout.blob_path(package.user["digest"]));
  const auto fetched = fetch(
      [&](const ServedRequest& request) -> std::optional<ServedResponse> {
        if (!is_blob(request)) return {};
        const std::string range = request.header("range");
        const std::size_t from = range.empty() ? 0 : std::stoul(range.substr(6));
        if (from >= 100'000) return ServedResponse{.status = 206, .headers = {{"Content-Range", "bytes 100000-"}}};
        return ServedResponse{.body = whole.substr(0, 100'000)};
      },
      package.user);
  ASSERT_FALSE(fetched);
  EXPECT_EQ(fetched.error().code, ErrorCode::unreachable);
  const std::string text = to_text(fetched.error());
  EXPECT_NE(text.find("100000 of " + std::to_string(size_of(package.user))), std::string::npos) << text;
  EXPECT_NE(text.find("3 times"), std::string::npos) << text;
  EXPECT_EQ(fs::file_size(package.cached(package.user) + ".partial"), 100'000U) << "the next run continues from here";
}

TEST_F(Download, WaitsAsLongAsRetryAfterSays) {
  std::atomic<int> asked = 0;
  const auto begin = std::chrono::steady_clock::now();
  const auto fetched = fetch(
      [&](const ServedRequest& request) -> std::optional<ServedResponse> {
        if (!is_blob(request) || asked++ > 0) return {};
        ServedResponse response = registry_error(429, "TOOMANYREQUESTS", "slow down");
        response.headers["Retry-After"] = "1";
        return response;
      },
      package.modules_50);
  ASSERT_TRUE(fetched) << to_text(fetched.error());
  EXPECT_GE(std::chrono::steady_clock::now() - begin, std::chrono::seconds(1));
}

/// Returns the result of a transfer of a megabyte at twenty bytes per second.
Result<HttpResponse> slow_transfer(const HttpSettings& settings) {
  const test::HttpServer server(
      [](const ServedRequest&) -> ServedResponse { return {.body = std::string(1 << 20, 'x'), .drip = true}; });
  SLIPWAY_TRY(client, HttpClient::create(settings));
  HttpRequest request{.url = server.url() + "/v2/blob", .expected_bytes = 1 << 20};
  request.sink = [](const HttpResponse&, std::span<const std::byte>) { return Status(); };
  return client->send(request);
}

// Before the fix, one byte per second kept an apply, and its lock, running for six hours.
TEST(SlowRegistry, IsGivenUpByItsRateOrByTheTotalTime) {
  HttpSettings settings{.stall_timeout = std::chrono::seconds(1)};
  const auto by_rate = slow_transfer(settings);
  ASSERT_FALSE(by_rate);
  EXPECT_EQ(by_rate.error().code, ErrorCode::timed_out);
  EXPECT_NE(to_text(by_rate.error()).find("bytes/s), which is too slow"), std::string::npos)
      << to_text(by_rate.error());
  EXPECT_NE(by_rate.error().what.find("127.0.0.1"), std::string::npos) << "whose rate";

  settings.slowest_bytes = 1;  // the former setting: only the total time limits it
  settings.grace = std::chrono::seconds(3);
  settings.average_bytes = 1 << 20;
  const auto begin = std::chrono::steady_clock::now();
  const auto by_time = slow_transfer(settings);
  EXPECT_GE(std::chrono::steady_clock::now() - begin, std::chrono::seconds(3)) << "the rate of before did not end it";
  ASSERT_FALSE(by_time);
  EXPECT_EQ(by_time.error().code, ErrorCode::timed_out);
}

// Before the fix, the limit applied to each blob by its size, which the registry chooses: many blobs together took
// hours.
TEST_F(Download, HasOneTimeLimitForAllBlobs) {
  registry = std::make_unique<LayoutRegistry>(package.layout, [&](const ServedRequest& request) {
    if (!is_blob(request)) return std::optional<ServedResponse>();
    return std::optional(ServedResponse{.body = std::string(6, 'x'), .hang = true});
  });
  context.cache = package.cache();
  ClientSettings settings = test::quick_settings();
  settings.http.stall_timeout = std::chrono::minutes(10);  // a single blob is not given up
  settings.http.longest = std::chrono::seconds(3);
  const Source source{.repository = registry->repository(), .trust_unsigned = true};
  auto origin = open_registry(source, context, settings);
  ASSERT_TRUE(origin);
  const std::vector<Descriptor> all{package.descriptor(package.user), package.descriptor(package.modules_50),
                                    package.descriptor(package.modules_53)};
  for (int i = 0; i < 2; ++i) {
    const auto fetched = (*origin)->fetch(all);
    ASSERT_FALSE(fetched);
    EXPECT_EQ(fetched.error().code, ErrorCode::timed_out) << to_text(fetched.error());
  }
  const auto again = (*origin)->fetch(all);
  EXPECT_THAT(to_text(again.error()), testing::HasSubstr("the time for the whole transfer is over"));
  EXPECT_THAT(to_text(again.error()), testing::HasSubstr("run the same command again"));
  EXPECT_LE(registry->server().count("GET", "/v2/nvidia/driver/blobs/"), 3) << "nothing is begun any more";
}

TEST_F(Download, ThatIsTooSlowReportsItsRate) {
  const std::string whole = test::file_text(package.layout.blob_path(package.user["digest"]));
  registry = std::make_unique<LayoutRegistry>(
      package.layout, [&](const ServedRequest& request) -> std::optional<ServedResponse> {
        if (!is_blob(request)) return {};
        const std::string range = request.header("range");
        const std::size_t from = range.empty() ? 0 : std::stoul(range.substr(6));
        return ServedResponse{.status = from == 0 ? 200 : 206,
                              .headers = {{"Content-Range", "bytes " + std::to_string(from) + "-"}},
                              .body = whole.substr(from, 1)};
      });
  context.cache = package.cache();
  ClientSettings settings = test::quick_settings();
  settings.http.grace = std::chrono::seconds(2);
  const Source source{.repository = registry->repository(), .trust_unsigned = true};
  auto origin = open_registry(source, context, settings);
  ASSERT_TRUE(origin);
  const auto fetched = (*origin)->fetch({package.descriptor(package.user)});
  ASSERT_FALSE(fetched);
  EXPECT_EQ(fetched.error().code, ErrorCode::timed_out);
  const std::string text = to_text(fetched.error());
  EXPECT_THAT(text, testing::HasSubstr("too slowly"));
  EXPECT_THAT(text, testing::HasSubstr("bytes/s)"));
  EXPECT_THAT(text, testing::HasSubstr("check the network on the way"));
}

// A user who may open a file may lock it, and so block an apply.
TEST_F(Download, IsPrivateUntilItIsComplete) {
  mode_t mode = 0;
  const std::string partial = package.cached(package.modules_50) + ".partial";
  const auto fetched = fetch(
      [&](const ServedRequest& request) -> std::optional<ServedResponse> {
        struct stat info {};
        if (is_blob(request) && ::stat(partial.c_str(), &info) == 0) mode = info.st_mode & 0777;
        return {};
      },
      package.modules_50);
  ASSERT_TRUE(fetched) << to_text(fetched.error());
  EXPECT_EQ(mode, 0600U);
  EXPECT_EQ(fs::status(package.cached(package.modules_50)).permissions(), fs::perms(0644)) << "it is not a secret";
}

TEST_F(Download, DoesNotWaitForAnHour) {
  const auto begin = std::chrono::steady_clock::now();
  const auto fetched = fetch(
      [&](const ServedRequest& request) -> std::optional<ServedResponse> {
        if (!is_blob(request)) return {};
        ServedResponse response = registry_error(429, "TOOMANYREQUESTS", "slow down");
        response.headers["Retry-After"] = "3600";
        return response;
      },
      package.modules_50);
  ASSERT_FALSE(fetched);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(30));
  EXPECT_NE(to_text(fetched.error()).find("TOOMANYREQUESTS"), std::string::npos);
}

TEST_F(Download, TriesAgainAfterServerErrorsAndSilence) {
  std::atomic<int> asked = 0;
  const auto fetched = fetch(
      [&](const ServedRequest& request) -> std::optional<ServedResponse> {
        if (!is_blob(request)) return {};
        const int turn = asked++;
        if (turn == 0) return registry_error(503, "UNAVAILABLE", "starting");
        if (turn == 1) return ServedResponse{.hang = true};
        return {};
      },
      package.modules_50);
  ASSERT_TRUE(fetched) << to_text(fetched.error());
  expect_cached(package.modules_50);
}

TEST_F(Download, SaysThatTheRegistryLacksABlobThatTheManifestNames) {
  fs::remove(package.layout.blob_path(package.modules_53["digest"]));
  const auto fetched = fetch({}, package.modules_53);
  ASSERT_FALSE(fetched);
  EXPECT_EQ(fetched.error().code, ErrorCode::not_found);
  EXPECT_NE(to_text(fetched.error()).find("BLOB_UNKNOWN"), std::string::npos);
}

TEST_F(Download, FollowsARedirectToAnotherHostWithoutTheLogin) {
  const std::string whole = test::file_text(package.layout.blob_path(package.user["digest"]));
  test::HttpServer storage([&](const ServedRequest&) { return ServedResponse{.body = whole}; });
  test::write_file(package.dir / "auth.json", "{\"auths\":{\"127.0.0.1\":{\"auth\":\"dXNlcjpzZWNyZXQ=\"}}}");
  registry = std::make_unique<LayoutRegistry>(
      package.layout, [&](const ServedRequest& request) -> std::optional<ServedResponse> {
        if (request.target == "/v2/") return {};
        if (request.header("authorization").empty())
          return ServedResponse{.status = 401, .headers = {{"WWW-Authenticate", "Basic realm=\"r\""}}};
        if (!is_blob(request)) return {};
        return ServedResponse{.status = 307, .headers = {{"Location", storage.url() + "/bucket/blob?signature=1"}}};
      });
  context.cache = package.cache();
  test::write_file(package.dir / "auth.json",
                   canonical({{"auths", {{registry->server().authority(), {{"auth", "dXNlcjpzZWNyZXQ="}}}}}}));
  const Source source{
      .repository = registry->repository(), .trust_unsigned = true, .auth_file = package.dir / "auth.json"};
  auto origin = open_registry(source, context, test::quick_settings());
  ASSERT_TRUE(origin);
  const auto fetched = (*origin)->fetch({package.descriptor(package.user)});
  ASSERT_TRUE(fetched) << to_text(fetched.error());
  expect_cached(package.user);
  EXPECT_EQ(registry->server().requests().back().header("authorization"), "Basic dXNlcjpzZWNyZXQ=");
  ASSERT_EQ(storage.requests().size(), 1U);
  EXPECT_EQ(storage.requests()[0].header("authorization"), "");
}

TEST_F(Download, StopsARedirectThatFormsALoop) {
  const auto fetched = fetch(
      [&](const ServedRequest& request) -> std::optional<ServedResponse> {
        if (!is_blob(request)) return {};
        return ServedResponse{.status = 302, .headers = {{"Location", request.target}}};
      },
      package.user);
  ASSERT_FALSE(fetched);
  EXPECT_EQ(fetched.error().code, ErrorCode::invalid);
}

TEST_F(Download, DoesNotFollowARedirectOutOfTls) {
  const auto fetched = fetch(
      [&](const ServedRequest& request) -> std::optional<ServedResponse> {
        if (!is_blob(request)) return {};
        return ServedResponse{.status = 307, .headers = {{"Location", "http://storage.invalid/blob"}}};
      },
      package.user);
  ASSERT_FALSE(fetched);
  EXPECT_EQ(fetched.error().code, ErrorCode::denied);
  EXPECT_NE(fetched.error().what.find("http://storage.invalid:80"), std::string::npos) << fetched.error().what;
}

TEST_F(Download, WaitsForAnotherDownloadOfTheSameBlob) {
  const std::string partial = package.cached(package.modules_50) + ".partial";
  test::write_file(partial, "");
  registry = std::make_unique<LayoutRegistry>(package.layout);
  const int other = ::open(partial.c_str(), O_RDWR | O_CLOEXEC);
  ASSERT_EQ(::flock(other, LOCK_EX), 0);
  std::thread finisher([&] {
    ::usleep(200'000);
    test::write_file(package.cached(package.modules_50),
                     test::file_text(package.layout.blob_path(package.modules_50["digest"])));
    fs::remove(partial);
    ::close(other);
  });
  const auto fetched = fetch_again({package.modules_50});
  finisher.join();
  ASSERT_TRUE(fetched) << to_text(fetched.error());
  EXPECT_EQ(fetched->bytes, 0U);
  expect_cached(package.modules_50);
}

TEST_F(Download, OfAFullDiskSaysSoAndKeepsWhatArrived) {
  if (::geteuid() != 0) GTEST_SKIP() << "needs root to mount a small filesystem";
  const std::string small = package.dir / "small";
  fs::create_directory(small);
  ASSERT_EQ(std::system(("mount -t tmpfs -o size=128k none " + small).c_str()), 0);
  registry = std::make_unique<LayoutRegistry>(package.layout);
  context.cache = small;
  const Source source{.repository = registry->repository(), .trust_unsigned = true};
  auto origin = open_registry(source, context, test::quick_settings());
  const auto fetched = (*origin)->fetch({package.descriptor(package.user)});
  EXPECT_EQ(std::system(("umount " + small).c_str()), 0);
  ASSERT_FALSE(fetched);
  EXPECT_EQ(fetched.error().code, ErrorCode::no_space) << to_text(fetched.error());
}

}  // namespace
}  // namespace slipway::artifact
