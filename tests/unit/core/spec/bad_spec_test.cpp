// SPDX-License-Identifier: Apache-2.0
// Every file of bad/ is refused with exactly the message in the file beside it, NAME.txt.
#include <algorithm>
#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>

#include "core/spec/document.hpp"
#include "plugins.hpp"

namespace slipway::core {
namespace {

std::vector<std::string> bad_specs() {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(TEST_SPECS "/bad"))
    if (entry.path().extension() == ".yaml") names.push_back(entry.path().stem().string());
  std::sort(names.begin(), names.end());
  return names;
}

class BadSpec : public testing::TestWithParam<std::string> {};

TEST_P(BadSpec, IsRefusedWithTheMessageBesideIt) {
  const std::string yaml = test_file("bad/" + GetParam() + ".yaml");
  const auto spec = host_spec_from_text(yaml, "host.yaml", test_plugins());
  ASSERT_FALSE(spec);
  const std::string message = to_text(spec.error());
  const std::string beside = TEST_SPECS "/bad/" + GetParam() + ".txt";
  if (std::getenv("SLIPWAY_WRITE_MESSAGES") != nullptr) std::ofstream(beside) << message;  // then review them carefully
  EXPECT_EQ(message, test_file("bad/" + GetParam() + ".txt"));
}

INSTANTIATE_TEST_SUITE_P(Files, BadSpec, testing::ValuesIn(bad_specs()), [](const auto& test) {
  std::string name = test.param;
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
});

TEST(BadSpec, FolderIsThere) { EXPECT_GT(bad_specs().size(), 40U); }

}  // namespace
}  // namespace slipway::core
