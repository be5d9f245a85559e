// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include "cli/render/text.hpp"

namespace slipway::cli {
namespace {

using ::testing::ElementsAre;

core::PlannedItem item(Action action, std::string summary,
                       core::Check::Standing standing = core::Check::Standing::change) {
  core::Check check;
  check.standing = standing;
  check.summary = std::move(summary);
  return {.action = std::move(action), .kind = nullptr, .check = std::move(check)};
}

core::PlannedItem link(const std::string& path, const std::string& because = {}) {
  Action action = action::symlink(path, "there");
  if (!because.empty()) action.because(because);
  return item(std::move(action), "link " + path + " -> there");
}

core::PlannedItem module_named(const std::string& name) {
  return item(action::kernel_module(name), "load " + name, core::Check::Standing::at_boot);
}

std::vector<std::string> texts(const std::vector<core::PlannedItem>& items, bool each = false) {
  std::vector<std::string> all;
  for (const PlanLine& line : plan_lines(items, each)) all.push_back(line.text);
  return all;
}

TEST(LinesOfAPlan, SummarizeManyLinksOfAFolder) {
  EXPECT_THAT(texts({link("/usr/lib/a"), link("/usr/lib/b"), link("/usr/lib/c")}),
              ElementsAre("link 3 names in /usr/lib: a, b, c"));
  EXPECT_THAT(texts({link("/l/a"), link("/l/b"), link("/l/c"), link("/l/d"), link("/l/e")}),
              ElementsAre("link 5 names in /l: a, b, c, d, e"));
  EXPECT_THAT(texts({link("/l/a"), link("/l/b"), link("/l/c"), link("/l/d"), link("/l/e"), link("/l/f")}),
              ElementsAre("link 6 names in /l: a, b, c, d and 2 more"));
}

TEST(LinesOfAPlan, AreSeparateForFewItemsOrOnRequest) {
  EXPECT_THAT(texts({link("/l/a"), link("/l/b")}), ElementsAre("link /l/a -> there", "link /l/b -> there"));
  EXPECT_THAT(texts({link("/l/a"), link("/l/b"), link("/l/c")}, true),
              ElementsAre("link /l/a -> there", "link /l/b -> there", "link /l/c -> there"));
}

TEST(LinesOfAPlan, SeparateDifferentFoldersReasonsAndStates) {
  EXPECT_THAT(texts({link("/l/a"), link("/l/b"), link("/m/c")}),
              ElementsAre("link /l/a -> there", "link /l/b -> there", "link /m/c -> there"));
  EXPECT_THAT(texts({link("/l/a", "one"), link("/l/b", "one"), link("/l/c", "two")}),
              ElementsAre("link /l/a -> there", "link /l/b -> there", "link /l/c -> there"));
  core::PlannedItem later = link("/l/c");
  later.check.standing = core::Check::Standing::at_boot;
  EXPECT_THAT(texts({link("/l/a"), link("/l/b"), later}),
              ElementsAre("link /l/a -> there", "link /l/b -> there", "link /l/c -> there"));
}

TEST(LinesOfAPlan, SummarizeModulesAndDeviceNodes) {
  EXPECT_THAT(texts({module_named("nvidia"), module_named("nvidia-uvm"), module_named("nvidia-modeset")}),
              ElementsAre("load 3 modules: nvidia, nvidia-uvm, nvidia-modeset"));
  const auto node = [](const std::string& path) {
    return item(action::device_node({.path = path, .major = 195}),
                "create " + path + " (character device 195:0, 0666)");
  };
  EXPECT_THAT(texts({node("/dev/a0"), node("/dev/a1"), node("/dev/a2")}),
              ElementsAre("create 3 device nodes in /dev: a0, a1, a2"));
}

TEST(LinesOfAPlan, KeepSpecialItemsSeparate) {
  core::PlannedItem with_options = module_named("b");
  with_options.check.summary = "load b with x=1";
  EXPECT_THAT(texts({module_named("a"), with_options, module_named("c")}),
              ElementsAre("load a", "load b with x=1", "load c"));
  core::PlannedItem replaces = link("/l/b");
  replaces.check.summary += " (was elsewhere)";
  EXPECT_THAT(texts({link("/l/a"), replaces, link("/l/c")}),
              ElementsAre("link /l/a -> there", "link /l/b -> there (was elsewhere)", "link /l/c -> there"));
}

}  // namespace
}  // namespace slipway::cli
