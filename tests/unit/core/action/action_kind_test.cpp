// SPDX-License-Identifier: Apache-2.0
#include "core/action/action_kind.hpp"

#include <gmock/gmock.h>

#include "tests/unit/core/action/action_fixture.hpp"

namespace slipway::core {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::vector<std::string> paths_of(const ActionKind& kind, const Action& action, Image image) {
  std::vector<std::string> paths;
  for (const auto& [path, part] : kind.paths(action, image)) paths.push_back(path + " " + part->value("type", ""));
  return paths;
}

TEST(ActionKinds, SayWhatABootRemoves) {
  EXPECT_TRUE(kernel_module_kind().is_lost_at_boot());
  EXPECT_TRUE(device_node_kind().is_lost_at_boot());
  EXPECT_FALSE(systemd_unit_kind().is_lost_at_boot());
}

TEST(ActionKinds, NameTheirUnitsAndFiles) {
  const Action unit = action::systemd_unit({.name = "x.service", .content = {}});
  EXPECT_EQ(systemd_unit_kind().starts(unit), "x.service");
  EXPECT_EQ(systemd_unit_kind().starts(action::systemd_unit({.name = "x.service", .content = {}, .started = false})),
            "");
  const Action unpacked = action::unpack({.name = "driver", .layers = {}});
  EXPECT_EQ(unpack_kind().store(unpacked), "driver");
  EXPECT_THAT(file_kind().store(action::file({.path = "/etc/x", .content = ""})), IsEmpty());
  EXPECT_TRUE(custom_kind().waits_for_restarts());
  EXPECT_FALSE(exec_kind().waits_for_restarts());
}

TEST(ActionKinds, NameThePathsOfTheirImages) {
  const Image absent{{"type", "absent"}};
  const Action file = action::file({.path = "/etc/x", .content = ""});
  EXPECT_THAT(paths_of(file_kind(), file, absent), ElementsAre("/etc/x absent"));
  EXPECT_THAT(paths_of(file_kind(), file, {{"type", "regular"}, {"saved", absent}}),
              ElementsAre("/etc/x regular", "/etc/x.slipway-saved absent"));
  const Action merged = action::merge({.path = "/etc/c.toml", .format = "toml", .set = Json::object()});
  EXPECT_THAT(paths_of(merge_kind(), merged, {{"path", "/srv/c.toml"}, {"file", absent}}),
              ElementsAre("/srv/c.toml absent"));
  const Action unit = action::systemd_unit({.name = "a@b.service", .content = {}});
  EXPECT_THAT(paths_of(systemd_unit_kind(), unit, {{"file", absent}, {"links", {{"/etc/l", absent}}}}),
              ElementsAre("/etc/systemd/system/a@.service absent", "/etc/l absent"));
  const Action node = action::device_node({.path = "/dev/acme0", .minor = 0});
  EXPECT_THAT(paths_of(device_node_kind(), node, {{"node", absent}}), ElementsAre("/dev/acme0 absent"));
}

using EditTest = ActionTest;

TEST_F(EditTest, AFileWithUnknownContentHoldsAnEdit) {
  const Action action = action::file({.path = "/etc/x", .content = "ours\n"});
  const auto edited = [&](const Image& image) {
    return file_kind().holds_an_edit(action, image, Image{}, *host).value();
  };
  EXPECT_FALSE(edited({})) << "nothing is there";
  root.put("/etc/x", "theirs\n");
  const Image image = fs.capture("/etc/x").value();
  EXPECT_TRUE(edited({}));
  EXPECT_FALSE(edited(image)) << "it was there before the step";
  root.put("/etc/x", "ours\n");
  EXPECT_FALSE(edited({}));
}

}  // namespace
}  // namespace slipway::core
