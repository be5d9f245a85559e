// SPDX-License-Identifier: Apache-2.0
#include "tests/component/cli/driver_root.hpp"

namespace slipway {
namespace {

using slipway::testing::DriverRoot;
using slipway::testing::Ran;

/// Returns a damaged or hostile copy of the demonstration package.
std::string tampered(const DriverRoot& root, const std::string& how) {
  const std::string copy = root.folder().at("tampered").string();
  const std::string command = "python3 " SLIPWAY_TAMPER " " + testing::kPackage + " " + copy + " " + how;
  EXPECT_EQ(std::system(command.c_str()), 0) << command;
  return copy;
}

struct BadPackage {
  const char* name;
  const char* how;
  std::vector<std::string> says;
};
void PrintTo(const BadPackage& one, std::ostream* out) { *out << one.name; }

class BadPackages : public ::testing::TestWithParam<BadPackage> {};

TEST_P(BadPackages, AreRefusedAndLeaveTheRootAsItWas) {
  const DriverRoot root;
  root.source("{repository: " + tampered(root, GetParam().how) + ", trust: unsigned}");
  const auto before = root.tree();
  expect_refused(root, root.run({"apply"}), 1, GetParam().says, before);
  EXPECT_FALSE(std::filesystem::exists(root.folder().at("escaped")));
  EXPECT_FALSE(std::filesystem::exists("/escaped"));
}

INSTANTIATE_TEST_SUITE_P(Package, BadPackages,
                         ::testing::Values(BadPackage{"AFlippedBit", "flip", {"sha256:"}},
                                           BadPackage{"ATruncatedLayer", "truncate", {"bytes instead of"}},
                                           BadPackage{"ANameThatClimbsOut", "dotdot", {".."}},
                                           BadPackage{"AnAbsoluteName", "absolute", {"/escaped"}},
                                           BadPackage{"ALinkThatLeadsOut", "link-out", {"out"}},
                                           BadPackage{"AHardLinkThatLeadsOut", "hard-link-out", {"'out' is refused"}},
                                           BadPackage{"ASetuidProgram", "setuid", {"usr/bin/su"}},
                                           BadPackage{"ADevice", "device", {"dev/mem"}},
                                           BadPackage{"ABomb", "bomb", {"bytes"}}),
                         [](const auto& one) { return std::string(one.param.name); });

struct BadSource {
  const char* name;
  std::string source;
  std::vector<std::string> says;
};
void PrintTo(const BadSource& one, std::ostream* out) { *out << one.name; }

class BadSources : public ::testing::TestWithParam<BadSource> {};

TEST_P(BadSources, AreRefusedWithTheirPlaceInTheSpecAndNothingIsChanged) {
  const DriverRoot root;
  root.source(GetParam().source);
  const auto before = root.tree();
  expect_refused(root, root.run({"apply"}), 1, GetParam().says, before);
}

INSTANTIATE_TEST_SUITE_P(
    Source, BadSources,
    ::testing::Values(
        BadSource{"ARegistryThatDoesNotAnswer",
                  "{repository: \"oci://127.0.0.1:1/nvidia/driver\", trust: unsigned}",
                  {"127.0.0.1:1"}},
        BadSource{"AFolderThatIsNotThere", "{repository: /nowhere/package, trust: unsigned}", {"/nowhere/package"}},
        BadSource{"AFolderThatIsNoLayout", "{repository: /etc, trust: unsigned}", {"/etc"}},
        BadSource{"NobodyVouchesFor", "{repository: " + testing::kPackage + "}", {"trust: unsigned", "digest"}},
        BadSource{"AnotherDigest",
                  "{repository: " + testing::kPackage + ", digest: \"sha256:" + std::string(64, 'a') + "\"}",
                  {"sha256:aaaa"}}),
    [](const auto& one) { return std::string(one.param.name); });

TEST(Package, ThatIsPinnedByItsDigestNeedsNoOtherTrust) {
  const DriverRoot root;
  const Ran inspect = root.slipway({"pkg", "inspect", testing::kPackage, "-o", "json"});
  ASSERT_EQ(inspect.code, 0) << inspect.err;
  const std::string digest = Json::parse(inspect.out)["entries"][0]["digest"];
  root.source("{repository: " + testing::kPackage + ", digest: \"" + digest + "\"}");
  const Ran apply = root.run({"apply"});
  EXPECT_EQ(apply.code, 0) << apply.out << apply.err;
}

}  // namespace
}  // namespace slipway
