// SPDX-License-Identifier: Apache-2.0
// Two roots made of the same spec and packages are equal, byte for byte.
#include <sys/stat.h>

#include "tests/component/cli/driver_root.hpp"

namespace slipway {
namespace {

using slipway::testing::DriverRoot;
using slipway::testing::Ran;
using ::testing::HasSubstr;
using ::testing::Not;

// Before the fix, the files that slipway left in a root depended on an existing lock, the spec's folder, and the user's
// umask: only root could read modules.dep.
TEST(TwoRoots, AreEqualForEveryUserAndWithOrWithoutALock) {
  ::setenv("SOURCE_DATE_EPOCH", "1767225600", 1);
  const DriverRoot first;
  const DriverRoot second;
  const std::string lock = first.folder().at("slipway.lock").string();
  const Ran one = first.run({"apply", "--yes", "--lock", lock});
  ASSERT_EQ(one.code, 0) << one.out << one.err;
  const mode_t mask = ::umask(077);
  const Ran two = second.run({"apply", "--yes", "--lock", lock, "--locked"});
  ::umask(mask);
  ASSERT_EQ(two.code, 0) << two.out << two.err;
  ::unsetenv("SOURCE_DATE_EPOCH");

  const auto ours = first.tree();
  const auto theirs = second.tree();
  for (const auto& [path, content] : ours) {
    ASSERT_TRUE(theirs.contains(path)) << path;
    EXPECT_TRUE(content == theirs.at(path)) << path << ":\n" << content << "\n" << theirs.at(path);
    EXPECT_EQ(first.mtime_ns(path), second.mtime_ns(path)) << path;
    EXPECT_THAT(content, Not(HasSubstr(first.folder().at("").string()))) << path;
  }
  EXPECT_EQ(ours.size(), theirs.size());
  EXPECT_THAT(ours.at("var/log/slipway/history.jsonl"), HasSubstr("\"time\":\"2026-01-01T00:00:00Z\""));
}

TEST(Generation, RecordsTheFolderOfItsSpecOnlyForRelativePaths) {
  const DriverRoot root;
  const auto record = [&](const char* number) {
    return Json::parse(root.text(std::string("var/lib/slipway/generations/") + number + ".json"));
  };
  const auto spec_file = [&](const char* number) { return record(number)["spec_file"]; };
  ASSERT_EQ(root.run({"apply"}).code, 0);
  EXPECT_EQ(spec_file("1"), "host.yaml");
  std::filesystem::copy(testing::kPackage, root.folder().at("package"), std::filesystem::copy_options::recursive);
  root.source("{repository: package, trust: unsigned}");
  ASSERT_EQ(root.run({"apply"}).code, 0);
  EXPECT_EQ(spec_file("2"), "host.yaml");
  EXPECT_EQ(record("2")["spec"]["spec"]["components"]["driver"]["source"]["repository"],
            root.folder().at("package").string());
}

}  // namespace
}  // namespace slipway
