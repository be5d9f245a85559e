// SPDX-License-Identifier: Apache-2.0
// slipway-artifact.so, loaded and called through its C entry like in a worker.
#include <dlfcn.h>
#include <gtest/gtest.h>
#include <slipway/abi.h>

#include "tests/unit/artifact/support/layout_maker.hpp"
#include "tests/unit/artifact/support/tar_maker.hpp"
#include "tests/unit/artifact/support/temp_dir.hpp"

namespace slipway::artifact {
namespace {

/// The messages that the worker's side receives.
struct Heard {
  std::vector<std::pair<std::string, Json>> messages;

  static int call(void* context, const char* op, const char* json, std::size_t length, const slipway_reply* reply) {
    static_cast<Heard*>(context)->messages.emplace_back(op, Json::parse(json, json + length));
    reply->write(reply->context, "null", 4);
    return SLIPWAY_OK;
  }
};

class ArtifactModule : public testing::Test {
 protected:
  void SetUp() override {
    library_ = ::dlopen(SLIPWAY_ARTIFACT_MODULE, RTLD_NOW | RTLD_LOCAL);
    ASSERT_NE(library_, nullptr) << ::dlerror();
    const auto open = reinterpret_cast<slipway_plugin_open_fn>(::dlsym(library_, SLIPWAY_ENTRY));
    ASSERT_NE(open, nullptr);
    const slipway_services services{sizeof(slipway_services), &heard_, Heard::call};
    ASSERT_EQ(open(&services, &plugin_), SLIPWAY_OK);
  }

  std::pair<int, Json> ask(const char* op, const std::string& request) {
    std::string text;
    const slipway_reply reply{&text, [](void* context, const char* json, std::size_t length) {
                                static_cast<std::string*>(context)->append(json, length);
                              }};
    const int outcome = plugin_.call(plugin_.context, op, request.data(), request.size(), &reply);
    return {outcome, text.empty() ? Json() : Json::parse(text)};
  }

  Heard heard_;
  void* library_ = nullptr;
  slipway_plugin plugin_{sizeof(slipway_plugin), nullptr, nullptr};
};

TEST_F(ArtifactModule, StagesALayerAndReportsProgress) {
  test::TempDir dir;
  test::LayoutMaker layout(dir / "layout");
  const Json layer = layout.layer(test::tar_of({{.name = "f", .content = "hello"}}), "userspace");
  layout.list(layout.manifest({layer}), "1");
  const Json request{
      {"source", {{"repository", layout.path()}, {"trust", "unsigned"}}}, {"layer", layer}, {"into", dir / "out"}};
  const auto [outcome, reply] = ask("stage", canonical(request));
  EXPECT_EQ(outcome, SLIPWAY_OK) << reply;
  EXPECT_EQ(reply, (Json{{"files", 1}, {"bytes", 5}}));
  EXPECT_EQ(test::file_text(dir / "out/f"), "hello");
  ASSERT_EQ(heard_.messages.size(), 1U) << "a short operation reports once, at its end";
  EXPECT_EQ(heard_.messages[0].first, "progress");
  EXPECT_EQ(heard_.messages[0].second["done"], 5);
  EXPECT_EQ(heard_.messages[0].second["total"], 5) << "that was all, although no size was announced";
}

TEST_F(ArtifactModule, AnswersAFailureWithAnErrorObject) {
  const auto [outcome, reply] = ask("catalogue", R"({"source": "/no/such/layout"})");
  EXPECT_EQ(outcome, SLIPWAY_FAILED);
  EXPECT_EQ(error_from_json(reply).code, ErrorCode::not_found);
}

TEST_F(ArtifactModule, StopsExceptionsAtTheEntry) {
  const auto [outcome, reply] = ask("catalogue", "no JSON");
  EXPECT_EQ(outcome, SLIPWAY_FAILED);
  EXPECT_EQ(error_from_json(reply).code, ErrorCode::internal);
}

TEST_F(ArtifactModule, SaysThatItDoesNotKnowAnOperation) {
  const auto [outcome, reply] = ask("destroy", "{}");
  EXPECT_EQ(outcome, SLIPWAY_UNSUPPORTED);
  EXPECT_TRUE(reply.is_null());
}

TEST_F(ArtifactModule, ShowsNothingButItsEntry) {
  EXPECT_EQ(::dlsym(library_, "_ZN7slipway8to_textB5cxx11ERKNS_5ErrorE"), nullptr);
}

}  // namespace
}  // namespace slipway::artifact
