// SPDX-License-Identifier: Apache-2.0
// tests/unit/plugins/toolkit/runtime/crio_golden_test.cpp - the component runtime's output for CRI-O, against golden
// files.
//
// Each folder below crio/ is a root with CRI-O's configuration (`root`), the component's section of the spec
// (`spec.json`, where it says anything), and what comes of them (`expected`): the file that is written, behind its
// path, or the error. The right values follow CRI-O's documentation and the source of its 1.36, as CRI-O is in no
// distribution that is tested.
#include <filesystem>
#include <fstream>
#include <sstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "runtime_fixture.hpp"

namespace slipway::toolkit {
namespace {

namespace fs = std::filesystem;
using testing::FakeHost;

std::string content_of(const fs::path& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

std::vector<std::string> case_names() {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(CRIO_GOLDEN)) names.push_back(entry.path().filename());
  std::ranges::sort(names);
  return names;
}

FakeHost host_of(const fs::path& root) {
  FakeHost host;
  for (const auto& entry : fs::recursive_directory_iterator(root))
    if (entry.is_regular_file())
      host.file("/" + fs::relative(entry.path(), root).string(), content_of(entry.path()), 0755);
  return host;
}

Spec spec_of(const fs::path& folder) {
  const std::string text = content_of(folder / "spec.json");
  return runtime_spec(text.empty() ? Json::object() : Json::parse(text));
}

std::string outcome(const FakeHost& host, const Spec& spec) {
  const auto plan = plan_of(host, spec);
  if (!plan) return "error: " + plan.error().what + "\nat: " + plan.error().where + "\ndo: " + plan.error().next + "\n";
  std::string text;
  for (const Action& action : plan->actions())
    if (action.target().find("crio") != std::string::npos)
      text += "file " + action.target() + "\n" + action.text("content");
  return text;
}

class CrioGolden : public ::testing::TestWithParam<std::string> {};

TEST_P(CrioGolden, WritesTheExpectedFiles) {
  const fs::path folder = fs::path(CRIO_GOLDEN) / GetParam();
  FakeHost host = host_of(folder / "root");
  const Spec spec = spec_of(folder);
  const std::string first = outcome(host, spec);
  EXPECT_EQ(first, content_of(folder / "expected"));
  if (const auto plan = plan_of(host, spec)) carry_out_files(host, *plan);
  EXPECT_EQ(outcome(host, spec), first) << "what is written changes what is planned";
}

INSTANTIATE_TEST_SUITE_P(Layouts, CrioGolden, ::testing::ValuesIn(case_names()), [](const auto& layout) {
  std::string name = layout.param;
  std::erase(name, '-');
  return name;
});

}  // namespace
}  // namespace slipway::toolkit
