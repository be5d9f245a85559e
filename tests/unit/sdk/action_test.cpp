// SPDX-License-Identifier: Apache-2.0
#include <stdexcept>

#include <gtest/gtest.h>

#include <slipway/action.hpp>

namespace slipway {
namespace {

TEST(Action, NamesItsKindAndTarget) {
  struct Expected {
    Action action;
    std::string kind;
    std::string target;
  };
  const std::vector<Expected> all{
      {action::file({.path = "/etc/a", .content = "x"}), "file", "/etc/a"},
      {action::directory("/var/lib/x"), "directory", "/var/lib/x"},
      {action::symlink("/a", "b"), "symlink", "/a"},
      {action::remove("/a"), "remove", "/a"},
      {action::service_file("/a"), "service-file", "/a"},
      {action::merge({.path = "/etc/a.json", .format = "json", .set = {{"a", 1}}}), "merge", "/etc/a.json"},
      {action::unpack({.name = "driver", .layers = {}}), "unpack", "driver"},
      {action::kernel_module("nvidia"), "kernel-module", "nvidia"},
      {action::systemd_unit({.name = "x.service"}), "systemd-unit", "x.service"},
      {action::device_node({.path = "/dev/nvidia0", .major = 195}), "device-node", "/dev/nvidia0"},
      {action::exec({.name = "rebuild", .argv = {"true"}, .check = {"true"}, .undo = {}}), "exec", "rebuild"},
      {action::custom({.name = "layout", .data = {{"gpu", 0}}, .inverse = nullptr, .irreversible = "why"}), "custom",
       "layout"}};
  for (const auto& [action, kind, target] : all) {
    EXPECT_EQ(action.kind(), kind);
    EXPECT_EQ(action.target(), target);
  }
}

TEST(Action, OfAFileCarriesEverythingThatMustHold) {
  const Action action = action::file({.path = "/etc/a", .content = "x\n", .mode = 0600, .on_drift = "replace"});
  EXPECT_EQ(action.json(), Json::parse(R"({"kind": "file", "target": "/etc/a", "content": "x\n", "mode": 384,
                                           "owner": "root", "group": "root", "on_drift": "replace"})"));
}

TEST(Action, OfADeviceNodeNamesEitherItsMajorOrWhereToFindIt) {
  const Action fixed = action::device_node({.path = "/dev/nvidia0", .major = 195, .minor = 3});
  const Action dynamic = action::device_node({.path = "/dev/gdrdrv", .major_of = "gdrdrv"});
  EXPECT_EQ(fixed.value("major"), 195);
  EXPECT_TRUE(fixed.value("major_of").is_null());
  EXPECT_EQ(dynamic.text("major_of"), "gdrdrv");
  EXPECT_TRUE(dynamic.value("major").is_null());
}

TEST(Action, OfADeviceNodeHasAnOwnerOnlyWhenItIsGivenOne) {
  const Json plain = action::device_node({.path = "/dev/a", .major = 1}).json();
  EXPECT_FALSE(plain.contains("owner") || plain.contains("group"));
  EXPECT_EQ(action::device_node({.path = "/dev/a", .major = 1, .group = "render"}).text("group"), "render");
}

TEST(Action, HasItsPathInTheOneFormThatNamesIt) {
  for (const char* path : {"/etc/x", "/etc//x", "//etc/./x/", "/etc/x/.", "/./etc///x"})
    EXPECT_EQ(action::file({.path = path, .content = ""}).target(), "/etc/x") << path;
  EXPECT_EQ(action::kernel_module("../x").target(), "../x") << "a name, which is judged elsewhere";
  EXPECT_EQ(*normal_path("/etc/..x/x.."), "/etc/..x/x..");
}

TEST(Action, RefusesAnAmbiguousPath) {
  for (const char* path : {"", "etc/x", "/usr/../etc/x", "../../escape", "/..", "/", "/./", "/etc/a\nb"}) {
    EXPECT_THROW(action::file({.path = path, .content = ""}), std::invalid_argument) << path;
    EXPECT_THROW(action::symlink(path, "/x"), std::invalid_argument) << path;
    EXPECT_THROW(action::merge({.path = path, .format = "json", .set = {}}), std::invalid_argument) << path;
    EXPECT_THROW(action::device_node({.path = path, .major = 1}), std::invalid_argument) << path;
  }
}

TEST(NormalPath, AdvisesOnlyValidPaths) {
  EXPECT_EQ(normal_path("etc//x").error().next, "write it as an absolute path: /etc/x");
  EXPECT_EQ(normal_path("../../escape").error().next, "write it as an absolute path");
  EXPECT_EQ(normal_path("").error().next, "write it as an absolute path");
}

TEST(Action, KeepsItsTriggersAndReason) {
  Action action = action::symlink("/a", "b");
  action.triggers({"ldconfig", "depmod:6.1"}).because("libraries are looked up there");
  EXPECT_EQ(action.value("triggers"), Json({"ldconfig", "depmod:6.1"}));
  EXPECT_EQ(action.text("because"), "libraries are looked up there");
}

TEST(Action, OfABuildNamesAllItsInputs) {
  action::Build build{.name = "x for 6.1",
                      .directory = "kernel-open",
                      .argv = {"make", "-j{jobs}"},
                      .environment = {"KCFLAGS=-O2"},
                      .needs = {"/lib/modules/6.1/build"},
                      .needs_hint = "install linux-headers-6.1",
                      .collect = {{.from = "nvidia.ko", .to = "nvidia.ko", .strip = true, .compress = "xz"}},
                      .identity = {{"gcc", "12"}}};
  const Json before = action::to_json(build);
  EXPECT_EQ(before["collect"][0],
            Json::parse(R"({"from": "nvidia.ko", "to": "nvidia.ko", "strip": true, "compress": "xz"})"));
  build.identity["gcc"] = "13";
  EXPECT_NE(action::to_json(build), before);
  const Action unpack = action::unpack({.name = "driver", .layers = {{.as = "modules/6.1", .build = before}}});
  EXPECT_EQ(unpack.value("layers")[0]["build"], before);
}

struct Layout {
  std::string name;
  int count = 0;
  static Result<Layout> from_json(const Json& json) { return Layout{json.value("name", ""), json.value("count", 1)}; }
};

TEST(CustomData, OfAnActionIsReadAsTheComponentsOwnType) {
  const auto action_with = [](Json data) {
    return action::custom({.name = "layout", .data = std::move(data), .inverse = nullptr, .irreversible = "a test"});
  };
  const auto layout = action::custom_data<Layout>(action_with({{"name", "halves"}, {"count", 2}}));
  ASSERT_TRUE(layout);
  EXPECT_EQ(layout->name, "halves");
  EXPECT_EQ(layout->count, 2);
  const auto wrong = action::custom_data<Layout>(action_with({{"count", "two"}}));
  ASSERT_FALSE(wrong);
  EXPECT_EQ(wrong.error().code, ErrorCode::plugin_defect);
  EXPECT_EQ(wrong.error().where, "data");
}

}  // namespace
}  // namespace slipway
