// SPDX-License-Identifier: Apache-2.0
// Debian's docker-registry and skopeo as peers: what skopeo pushed is read, with TLS, a private CA and a login.
#include <gtest/gtest.h>

#include "artifact/operations.hpp"
#include "tests/component/artifact/support/docker_registry.hpp"
#include "tests/component/artifact/support/sample_package.hpp"

namespace slipway::artifact {
namespace {

using test::DockerRegistry;
using test::SamplePackage;

class RealRegistry : public testing::TestWithParam<bool> {
 protected:
  void SetUp() override { test::require_program("skopeo", "skopeo"); }

  void push_by_skopeo(const std::string& tag) {
    const auto pushed =
        test::run("skopeo copy --all " + registry.skopeo_options("dest") + " oci:" + package.layout.path() + ":" + tag +
                  " docker://" + registry.authority() + "/nvidia/driver:" + tag);
    ASSERT_EQ(pushed.status, 0) << pushed.text;
  }
  Json source() const {
    Json value{{"repository", registry.repository("nvidia/driver")}};
    if (GetParam()) value.update({{"ca", registry.ca_file()}, {"auth", registry.auth_file()}});
    return value;
  }
  Result<Json> ask(const char* op, Json request) {
    request["cache"] = package.cache();
    return answer(op, request, {});
  }

  DockerRegistry registry{{.tls = GetParam(), .login = GetParam()}};
  SamplePackage package;
};

INSTANTIATE_TEST_SUITE_P(Each, RealRegistry, testing::Bool(),
                         [](const auto& one) { return one.param ? "TlsAndLogin" : "PlainOnLoopback"; });

TEST_P(RealRegistry, ReturnsWhatSkopeoPushed) {
  push_by_skopeo("535.261.03-debian12");
  push_by_skopeo("535.261.03-6.1.0-50-amd64-debian12-open");
  Json pinned = source();
  pinned["digest"] = package.index["digest"];
  const auto catalogue = ask("catalogue", {{"source", pinned}});
  ASSERT_TRUE(catalogue) << to_text(catalogue.error());
  ASSERT_EQ((*catalogue)["entries"].size(), 2U);
  const auto fetched = ask("fetch", {{"source", pinned}, {"layers", {package.user, package.modules_53}}});
  ASSERT_TRUE(fetched) << to_text(fetched.error());
  EXPECT_EQ((*fetched)["bytes"], package.user["size"].get<int>() + package.modules_53["size"].get<int>());
  const auto staged = ask("stage", {{"source", pinned}, {"layer", package.modules_53}, {"into", package.dir / "out"}});
  ASSERT_TRUE(staged) << to_text(staged.error());
  EXPECT_EQ(test::file_text(package.dir / "out/nvidia.ko"), "for 53");
  Json open = source();
  open["trust"] = "unsigned";
  const auto all = ask("catalogue", {{"source", open}});
  ASSERT_TRUE(all) << to_text(all.error());
  EXPECT_EQ((*all)["entries"].size(), 2U);
  EXPECT_EQ((*all)["entries"][1]["tag"], "535.261.03-debian12");
}

TEST_P(RealRegistry, AcceptsAPushThatSkopeoAndSlipwayReadEqually) {
  const auto pushed = ask("push", {{"layout", package.layout.path()}, {"source", source()}});
  ASSERT_TRUE(pushed) << to_text(pushed.error());
  const auto seen = test::run("skopeo inspect --raw " + registry.skopeo_options("") + " docker://" +
                              registry.authority() + "/nvidia/driver:535.261.03-debian12");
  ASSERT_EQ(seen.status, 0) << seen.text;
  EXPECT_NE(seen.text.find("manifests"), std::string::npos) << seen.text;
  const auto again = ask("push", {{"layout", package.layout.path()}, {"source", source()}});
  ASSERT_TRUE(again) << to_text(again.error());
  EXPECT_EQ((*again)["bytes"], 0) << "blobs that are there are not sent again";
  const auto pulled = ask("pull", {{"source", source()}, {"output", package.dir / "pulled"}});
  ASSERT_TRUE(pulled) << to_text(pulled.error());
  EXPECT_EQ((*pulled)["digest"], (*pushed)["digest"]);
  const Json local{{"repository", package.dir / "pulled"}, {"trust", "unsigned"}};
  const auto catalogue = ask("catalogue", {{"source", local}});
  ASSERT_TRUE(catalogue) << to_text(catalogue.error());
  EXPECT_EQ((*catalogue)["entries"].size(), 2U);
}

TEST_P(RealRegistry, PullsWhatADigestPinsAndListsItWithoutATag) {
  const auto pushed = ask("push", {{"layout", package.layout.path()}, {"source", source()}});
  ASSERT_TRUE(pushed) << to_text(pushed.error());
  Json pinned = source();
  pinned["digest"] = package.index["digest"];
  const auto pulled = ask("pull", {{"source", pinned}, {"output", package.dir / "pulled"}});
  ASSERT_TRUE(pulled) << to_text(pulled.error());
  EXPECT_EQ((*pulled)["digest"], package.index["digest"]);
  const Json local{{"repository", package.dir / "pulled"}, {"digest", package.index["digest"]}};
  const auto catalogue = ask("catalogue", {{"source", local}});
  ASSERT_TRUE(catalogue) << to_text(catalogue.error());
  EXPECT_EQ((*catalogue)["entries"].size(), 2U);
  const Json any{{"repository", package.dir / "pulled"}, {"trust", "unsigned"}};
  const auto listed = ask("catalogue", {{"source", any}});
  ASSERT_TRUE(listed) << to_text(listed.error());
  EXPECT_EQ((*listed)["entries"].size(), 2U) << "found without knowing the digest as well";
  pinned["digest"] = "sha256:" + std::string(64, 'a');
  EXPECT_FALSE(ask("pull", {{"source", pinned}, {"output", package.dir / "other"}}));
}

TEST_P(RealRegistry, NamesTheTagsThatItHas) {
  push_by_skopeo("535.261.03-debian12");
  Json wrong = source();
  wrong.update({{"trust", "unsigned"}, {"tag", "535.261.04-debian12"}});
  const auto catalogue = ask("catalogue", {{"source", wrong}});
  ASSERT_FALSE(catalogue);
  EXPECT_EQ(catalogue.error().code, ErrorCode::not_found);
  EXPECT_NE(to_text(catalogue.error()).find("535.261.03-debian12"), std::string::npos) << to_text(catalogue.error());
}

TEST_P(RealRegistry, SaysThatItHasNoSuchRepository) {
  Json open = source();
  open["trust"] = "unsigned";
  const auto catalogue = ask("catalogue", {{"source", open}});
  ASSERT_FALSE(catalogue);
  EXPECT_EQ(catalogue.error().code, ErrorCode::not_found) << to_text(catalogue.error());
}

TEST(RealRegistryLogin, IsDeniedWithoutAPassword) {
  const DockerRegistry registry({.tls = true, .login = true});
  test::TempDir dir;
  test::write_file(dir / "nobody.json", "{}");
  const Json source{{"repository", registry.repository("x")},
                    {"ca", registry.ca_file()},
                    {"auth", dir / "nobody.json"},
                    {"trust", "unsigned"}};
  const auto catalogue = answer("catalogue", {{"source", source}, {"cache", dir.path()}}, {});
  ASSERT_FALSE(catalogue);
  EXPECT_EQ(catalogue.error().code, ErrorCode::denied) << to_text(catalogue.error());
  EXPECT_NE(to_text(catalogue.error()).find("no login is configured"), std::string::npos) << to_text(catalogue.error());
}

}  // namespace
}  // namespace slipway::artifact
