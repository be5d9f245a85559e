// SPDX-License-Identifier: Apache-2.0
#include "tests/component/cli/driver_root.hpp"

namespace slipway {
namespace {

using slipway::testing::DriverRoot;

struct BadSpec {
  const char* name;
  std::string text;
  std::vector<std::string> says;
};
void PrintTo(const BadSpec& one, std::ostream* out) { *out << one.name; }

const std::string kHead = "apiVersion: slipway.dev/v1\nkind: Host\nmetadata: {name: n}\nspec:\n";

class BadSpecs : public ::testing::TestWithParam<BadSpec> {};

TEST_P(BadSpecs, AreRefusedByPlanAndApplyWithPlaceAndRemedyAndNothingIsChanged) {
  const DriverRoot root;
  root.folder().file("host.yaml", GetParam().text);
  const auto before = root.tree();
  for (const auto* command : {"plan", "apply"}) expect_refused(root, root.run({command}), 1, GetParam().says, before);
}

INSTANTIATE_TEST_SUITE_P(
    Spec, BadSpecs,
    ::testing::Values(
        BadSpec{"AWrongKey",
                kHead + "  components:\n    driver:\n      verson: \"535\"\n      source: /p\n",
                {"host.yaml:7:7", "verson", "did you mean 'version'"}},
        BadSpec{"AnUnknownComponent", kHead + "  components:\n    drivr: {}\n", {"host.yaml:6:5", "drivr", "driver"}},
        BadSpec{"AWrongType",
                kHead + "  components:\n    driver:\n      blacklist_nouveau: maybe\n      source: /p\n",
                {"host.yaml:7:26", "maybe", "true"}},
        BadSpec{"AWordThatIsNoChoice",
                kHead + "  components:\n    driver:\n      modules: opne\n      source: /p\n",
                {"host.yaml:7:7", "opne", "open"}},
        BadSpec{"AMissingKey", kHead + "  components:\n    driver: {version: \"535.261.03\"}\n", {"source", "missing"}},
        BadSpec{"WrongIndentation",
                kHead + "  components:\n    driver:\n      version: \"535.261.03\"\n     source: /p\n",
                {"host.yaml:8"}},
        BadSpec{"ATab", kHead + "  components:\n\tdriver: {}\n", {"host.yaml:6:1", "tab"}},
        BadSpec{"AKeyTwice",
                kHead + "  components:\n    driver: {source: /p, source: /q}\n",
                {"host.yaml:6:26", "source", "twice"}},
        BadSpec{"ANewerSlipway",
                "apiVersion: slipway.dev/v2\nkind: Host\nmetadata: {name: n}\nspec: {components: {}}\n",
                {"host.yaml:1:13", "slipway.dev/v2", "newer"}},
        BadSpec{"AnotherKind", "apiVersion: slipway.dev/v1\nkind: Pod\n", {"host.yaml:2:7", "Pod", "Host"}},
        BadSpec{"AnEmptyFile", "", {"host.yaml"}}),
    [](const auto& one) { return std::string(one.param.name); });

TEST(Spec, ThatIsMissingIsNamed) {
  const DriverRoot root;
  std::filesystem::remove(root.folder().at("host.yaml"));
  const auto before = root.tree();
  expect_refused(root, root.run({"plan"}), 1, {"host.yaml"}, before);
}

}  // namespace
}  // namespace slipway
