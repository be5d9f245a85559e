// SPDX-License-Identifier: Apache-2.0
// The machine owner's key of a root, through the command line.
#include "tests/component/cli/driver_root.hpp"

namespace slipway {
namespace {

using slipway::testing::DriverRoot;
using slipway::testing::Ran;
using ::testing::AllOf;
using ::testing::HasSubstr;

TEST(DriverEnroll, PreparesTheFilesOfARootOnceAndTheSpecTakesThem) {
  const DriverRoot root;
  const std::vector<std::string> words{"driver", "enroll", "--root", root.folder().at("root").string()};
  root.put("etc/hostname", "gpu-node-7\n");
  auto as_json = words;
  as_json.insert(as_json.end(), {"-o", "json"});
  const Ran first = root.bare(as_json);
  ASSERT_EQ(first.code, 0) << first.err;
  const Json made = Json::parse(first.out);
  EXPECT_EQ(made["kind"], "DriverEnrollment");
  EXPECT_EQ(made["state"], "prepared");
  EXPECT_EQ(made["made"], true);
  const auto after = root.tree();
  const Ran second = root.bare(words);
  EXPECT_EQ(second.code, 0) << second.err;
  EXPECT_THAT(second.out, AllOf(HasSubstr("is not enrolled yet"), HasSubstr("`mokutil --import /etc/slipway/mok.der`"),
                                HasSubstr("MokManager")));
  EXPECT_EQ(root.tree(), after) << "the second run changes nothing";
  const std::string key = root.path("etc/slipway/mok.key").string();
  root.driver("version: \"535.261.03\", modules: open, signing: {key: {file: " + key +
              "}, certificate: " + root.path("etc/slipway/mok.der").string() +
              "}, source: {repository: " + testing::kPackage + ", trust: unsigned}");
  EXPECT_EQ(root.run({"plan"}).code, 2);
}

}  // namespace
}  // namespace slipway
