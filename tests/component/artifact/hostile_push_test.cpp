// SPDX-License-Identifier: Apache-2.0
// Pushing content from another party: the operator's login reaches only the named repository.
#include <gtest/gtest.h>

#include "artifact/operations.hpp"
#include "artifact/pack/copy.hpp"
#include "tests/component/artifact/support/layout_registry.hpp"
#include "tests/component/artifact/support/sample_package.hpp"

namespace slipway::artifact {
namespace {

using test::HttpServer;
using test::SamplePackage;
using test::ServedRequest;
using test::ServedResponse;

/// A registry that claims to have every blob and accepts every manifest.
class HostilePush : public testing::Test {
 protected:
  Json source() const { return {{"repository", "oci://" + registry.authority() + "/me/pkg"}}; }
  Result<Json> push(const std::vector<std::string>& tags = {}) {
    return answer("push", {{"layout", package.layout.path()}, {"source", source()}, {"tags", tags}}, {});
  }
  int writes() const { return registry.count("PUT", "") + registry.count("POST", ""); }

  HttpServer registry{
      [](const ServedRequest& request) { return ServedResponse{.status = request.method == "PUT" ? 201 : 200}; }};
  SamplePackage package;
};

TEST_F(HostilePush, OfALayoutWhoseTagIsAPathIsRefusedBeforeAnythingIsWritten) {
  package.layout.list(package.index, "../../../prod/app/manifests/latest?x=\n");
  const auto pushed = push();
  ASSERT_FALSE(pushed);
  EXPECT_EQ(pushed.error().code, ErrorCode::invalid);
  EXPECT_NE(pushed.error().what.find("'../../../prod/app/manifests/latest?x=\\x0a' is not a tag"), std::string::npos)
      << to_text(pushed.error());
  EXPECT_EQ(pushed.error().where, package.layout.path());
  EXPECT_EQ(writes(), 0);
}

TEST_F(HostilePush, OfOtherTagsOfALayoutWithAPathAsTagSucceeds) {
  package.layout.list(package.index, "../../../prod/app/manifests/latest?x=");
  const auto pushed = push({"535.261.03-debian12"});
  ASSERT_TRUE(pushed) << to_text(pushed.error());
  EXPECT_EQ(writes(), registry.count("PUT", "/v2/me/pkg/manifests/"));
}

TEST_F(HostilePush, IsRefusedByTheRegistrysWriterItselfToo) {
  const Reporter reporter;
  const auto target = open_registry_target(*source_from_json(source()), reporter);
  ASSERT_TRUE(target);
  const Status put = (*target)->put_manifest(package.descriptor(package.index), "{}", "../../prod/manifests/latest");
  ASSERT_FALSE(put);
  EXPECT_EQ(put.error().code, ErrorCode::invalid);
  EXPECT_EQ(writes(), 0);
}

TEST_F(HostilePush, OfAMediaTypeWithALineBreakIsRefused) {
  const std::string type = "x/y\r\n\r\nPUT /v2/prod/app/manifests/latest HTTP/1.1";
  package.layout.list(package.layout.blob(canonical({{"schemaVersion", 2}, {"mediaType", type}}), "x/y"), "1.0");
  const auto pushed = push({"1.0"});
  ASSERT_FALSE(pushed);
  EXPECT_NE(pushed.error().what.find("not a media type"), std::string::npos) << to_text(pushed.error());
  EXPECT_EQ(writes(), 0);
}

TEST_F(HostilePush, OfSuchALayoutDoesNotPreventPullAndInspect) {
  package.layout.list(package.index, "../../x");
  const Json local{{"repository", package.layout.path()}, {"tag", "../../x"}};
  const auto pulled = answer("pull", {{"source", local}, {"output", package.dir / "pulled"}}, {});
  ASSERT_TRUE(pulled) << to_text(pulled.error());
  EXPECT_TRUE(answer("inspect", {{"source", local}}, {}));
}

}  // namespace
}  // namespace slipway::artifact
