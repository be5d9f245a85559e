// SPDX-License-Identifier: Apache-2.0
// The chosen driver version, and the message when there is none, through the command line: for each kind of source.
#include <cstdlib>
#include <memory>

#include "tests/component/artifact/support/layout_registry.hpp"
#include "tests/component/cli/driver_root.hpp"

namespace slipway {
namespace {

using artifact::test::LayoutMaker;
using artifact::test::LayoutRegistry;
using slipway::testing::DriverRoot;
using slipway::testing::Ran;
using ::testing::HasSubstr;
using ::testing::Not;

/// Packages of 535.183.06, 535.261.03 and 550.163.01 for kernel 6.1.0-50-amd64, 580.82.07 for 6.1.0-53-amd64.
const std::string kVersions = SLIPWAY_TEST_VERSIONS;

class DriverVersions : public ::testing::Test {
 protected:
  void want(const std::string& version, const std::string& repository) const {
    const std::string key = version.empty() ? "" : "version: \"" + version + "\", ";
    root.driver(key + "modules: open, source: {repository: \"" + repository + "\", trust: unsigned}");
  }
  std::string bundle() const {
    const std::string file = root.folder().at("versions.tar").string();
    EXPECT_EQ(std::system(("tar -cf " + file + " -C " + kVersions + " .").c_str()), 0);
    return file;
  }
  LayoutRegistry& registry() {
    if (!served) {
      layout = std::make_unique<LayoutMaker>(root.folder().at("served").string());
      EXPECT_EQ(std::system(("cp -rT " + kVersions + " " + layout->path()).c_str()), 0);
      served = std::make_unique<LayoutRegistry>(*layout);
    }
    return *served;
  }
  /// True when the registry was asked for a tag with this word.
  bool asked_about(const std::string& word) const {
    for (const auto& request : served->server().requests())
      if (request.target.find("manifests/") != std::string::npos && request.target.find(word) != std::string::npos)
        return true;
    return false;
  }
  void expect_told(const std::string& repository) const {
    SCOPED_TRACE(repository);
    want("535.261.04", repository);
    const auto before = root.tree();
    expect_refused(root, root.run({"plan"}), 1,
                   {"has no driver 535.261.04", "host.yaml:", "535.261.03, 535.183.06, 550.163.01, 580.82.07",
                    "535.261.03 open: kernels 6.1.0-50-amd64", "write version: \"535.261.03\", the nearest"},
                   before);
  }

  DriverRoot root;
  std::unique_ptr<LayoutMaker> layout;
  std::unique_ptr<LayoutRegistry> served;
};

// Before the fix, the error for a folder full of packages was "holds no driver package".
TEST_F(DriverVersions, MissingFromAFolderAreAnErrorThatListsTheExistingOnes) { expect_told(kVersions); }

TEST_F(DriverVersions, MissingFromABundleAreAnErrorThatListsTheExistingOnes) { expect_told(bundle()); }

TEST_F(DriverVersions, MissingFromARegistryAreAnErrorThatListsTheExistingOnes) { expect_told(registry().repository()); }

TEST_F(DriverVersions, OfAnEmptyKindOfSourceAreReportedToBeMissing) {
  LayoutMaker empty(root.folder().at("empty").string());
  empty.list(empty.manifest({}, {}), "other");
  want("535.261.03", empty.path());
  const Ran plan = root.run({"plan"});
  EXPECT_EQ(plan.code, 1);
  EXPECT_THAT(plan.out + plan.err, HasSubstr("holds no driver package"));
}

TEST_F(DriverVersions, CanBeABranchARangeOrTheLatestThatHasModulesForTheKernel) {
  const std::map<std::string, std::string> taken{{"535", "535.261.03"},
                                                 {"535.183", "535.183.06"},
                                                 {">=535.100 <535.200", "535.183.06"},
                                                 {"<=550", "550.163.01"},
                                                 {"latest", "550.163.01"}};
  for (const auto& [desired, version] : taken) {
    want(desired, kVersions);
    const Ran plan = root.run({"plan"});
    EXPECT_EQ(plan.code, 2) << plan.out << plan.err;
    EXPECT_THAT(plan.out, HasSubstr("version: " + desired + " takes " + version + ", the newest that fits"));
    EXPECT_THAT(plan.out, HasSubstr("firmware/nvidia/" + version));
  }
  want("latest", kVersions);
  EXPECT_THAT(root.run({"plan"}).out,
              HasSubstr("580.82.07 is passed over: no driver package fits kernel 6.1.0-50-amd64"));
}

TEST_F(DriverVersions, ThatAreInvalidAreRefusedWithTheirPlace) {
  want("newest", kVersions);
  expect_refused(root, root.run({"plan"}), 1, {"host.yaml:", "driver.version", "newest"}, root.tree());
}

TEST_F(DriverVersions, OfARegistryAreChosenByTagsAndOnlyCandidatesAreRead) {
  want("535", registry().repository());
  EXPECT_THAT(root.run({"plan"}).out, HasSubstr("version: 535 takes 535.261.03"));
  EXPECT_TRUE(asked_about("535.261.03"));
  for (const char* other : {"535.183.06", "550.163.01", "580.82.07"}) EXPECT_FALSE(asked_about(other)) << other;
}

TEST_F(DriverVersions, StayAsTheLockPinsThemWithoutTheRegistry) {
  const std::string lock = root.folder().at("slipway.lock").string();
  want("latest", registry().repository());
  const Ran early = root.run({"plan", "--lock", lock});
  EXPECT_THAT(early.err, HasSubstr("slipway.lock does not exist yet")) << early.out;
  EXPECT_FALSE(std::filesystem::exists(lock));
  const Ran apply = root.run({"apply", "--lock", lock});
  ASSERT_EQ(apply.code, 0) << apply.out << apply.err;
  served.reset();
  for (const std::vector<std::string>& words :
       {std::vector<std::string>{"plan", "--lock", lock}, {"plan", "--lock", lock, "--locked"}}) {
    const Ran plan = root.run(words);
    EXPECT_EQ(plan.code, 0) << plan.out << plan.err;
    EXPECT_THAT(plan.out, HasSubstr("version: latest takes 550.163.01, which the lock pins"));
  }
}

TEST_F(DriverVersions, AreChosenAgainWithUpdate) {
  want("535.183", kVersions);
  ASSERT_EQ(root.run({"apply"}).code, 0);
  want("535", kVersions);
  EXPECT_THAT(root.run({"plan"}).out, HasSubstr("version: 535 takes 535.183.06, which the lock pins"));
  const Ran update = root.run({"plan", "--update"});
  EXPECT_EQ(update.code, 2) << update.out << update.err;
  EXPECT_THAT(update.out, HasSubstr("version: 535 takes 535.261.03, the newest that fits"));
  const Ran apply = root.run({"apply", "--update"});
  EXPECT_EQ(apply.code, 0) << apply.out << apply.err;
  EXPECT_THAT(root.run({"plan"}).out, HasSubstr("version: 535 takes 535.261.03, which the lock pins"));
}

TEST_F(DriverVersions, OfAPlanSavedWithUpdateAreUsedByItsApply) {
  want("535.183", kVersions);
  ASSERT_EQ(root.run({"apply"}).code, 0);
  want("535", kVersions);
  const std::string saved = root.folder().at("saved.json").string();
  root.folder().file("saved.json", root.run({"plan", "-o", "json"}).out);
  const Ran other = root.run({"apply", saved, "--update"});
  EXPECT_EQ(other.code, 64) << other.out << other.err;
  EXPECT_THAT(other.err, HasSubstr("the saved plan was made without --update"));
  root.folder().file("saved.json", root.run({"plan", "--update", "-o", "json"}).out);
  const Ran apply = root.run({"apply", saved});
  EXPECT_EQ(apply.code, 0) << apply.out << apply.err;
  EXPECT_THAT(root.run({"plan"}).out, HasSubstr("version: 535 takes 535.261.03, which the lock pins"));
}

TEST_F(DriverVersions, ThatTheLockDoesNotPinAreRefusedWithLocked) {
  want("550", kVersions);
  const Ran plan = root.run({"plan", "--locked"});
  EXPECT_EQ(plan.code, 1);
  EXPECT_THAT(plan.out + plan.err, HasSubstr("once with --lock FILE and without --locked: it adds"));
  EXPECT_THAT(plan.out + plan.err, Not(HasSubstr("tag_prefix")));
}

}  // namespace
}  // namespace slipway
