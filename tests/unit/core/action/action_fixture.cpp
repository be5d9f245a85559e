// SPDX-License-Identifier: Apache-2.0
#include "action_fixture.hpp"

#include <filesystem>
#include <fstream>

namespace slipway::core {

Status FakeStager::stage(const Json& layer, const std::string& into) {
  ++calls;
  if (stage_error) return *stage_error;
  const std::string name =
      layer.contains("build") ? layer["build"].value("name", "") : layer["descriptor"].value("digest", "");
  std::filesystem::create_directories(into);
  for (const auto& [path, content] : trees.at(name)) {
    const auto file = std::filesystem::path(into) / path;
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file, std::ios::binary) << content;
  }
  return {};
}

Check ActionTest::check(const Action& action) {
  const auto result = kind(action).check(action, context);
  if (!result) {
    ADD_FAILURE() << to_text(result.error());
    return {};
  }
  return *result;
}

Image ActionTest::apply(const Action& action) {
  const auto image = kind(action).capture(action, context);
  EXPECT_TRUE(image.ok()) << (image ? "" : to_text(image.error()));
  const Status staged = kind(action).stage(action, context);
  EXPECT_TRUE(staged.ok()) << (staged ? "" : to_text(staged.error()));
  const auto outcome = kind(action).perform(action, context);
  EXPECT_TRUE(outcome.ok()) << (outcome ? "" : to_text(outcome.error()));
  return image.value_or(Image());
}

Image ActionTest::apply_and_remember(const Action& action) {
  const Image image = apply(action);
  context.original = context.original.is_null() ? image : kind(action).join(context.original, image);
  const auto record = kind(action).fingerprint(action, context);
  EXPECT_TRUE(record.ok());
  context.record = record.value_or(Json());
  return image;
}

void ActionTest::restore(const Action& action, const Image& image) {
  const Status done = kind(action).restore(action, image, context);
  EXPECT_TRUE(done.ok()) << (done ? "" : to_text(done.error()));
}

void ActionTest::take_away(const Action& action) {
  restore(action, context.original);
  drop_bookkeeping();
}

void ActionTest::drop_bookkeeping() {
  EXPECT_TRUE(Originals(fs).drop_unused({}).ok());
  std::error_code ignored;
  std::filesystem::remove(root.at("/var/lib/slipway"), ignored);
  std::filesystem::remove(root.at("/var/lib"), ignored);
  std::filesystem::remove(root.at("/var"), ignored);
}

}  // namespace slipway::core
