// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include "driver/choose/version.hpp"
#include "tests/unit/plugins/driver/test_catalogue.hpp"

namespace slipway::driver {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::TestPackage;

class ChooseVersionTest : public ::testing::Test {
 protected:
  ChooseVersionTest() {
    wanted.source = testing::kRepository;
    wanted.kernel_release = "6.1.0-50-amd64";
    wanted.os = "debian12";
    wanted.arch = "x86_64";
  }
  /// Sets a source that has been read completely.
  void have(const std::vector<TestPackage>& list) { source = testing::catalogue(list); }
  /// Sets a registry: its tags, beside the ones that were read.
  void unread(std::vector<std::string> tags) {
    source.unread = std::move(tags);
    source.complete = false;
  }
  /// Only the lock was read.
  void only_the_lock() { source.complete = false; }

  Result<ChosenVersion> choose(const std::string& text) {
    std::vector<std::string> problems;
    const auto desired = VersionConstraint::parse(text);
    EXPECT_TRUE(desired) << text;
    wanted.version = text;
    return choose_version(packages_of(source, problems), source, *desired, wanted, [&](const std::string& version) {
      const auto why = misfits.find(version);
      return why == misfits.end() ? Status{} : Status(why->second);
    });
  }
  std::string version(const std::string& text) {
    auto chosen = choose(text);
    return chosen ? chosen->version : to_text(chosen.error());
  }
  Error refused(const std::string& text) {
    auto chosen = choose(text);
    EXPECT_FALSE(chosen) << chosen->version;
    return chosen ? Error{} : chosen.error();
  }
  /// Returns the prefixes that are requested; "names" alone stands for the names of the tags.
  std::vector<std::string> asked(const std::string& text) {
    const Error error = refused(text);
    EXPECT_EQ(error.code, ErrorCode::needs_catalogue) << to_text(error);
    std::vector<std::string> texts;
    for (const auto& [label, detail] : error.details) texts.push_back(detail);
    return texts;
  }

  Catalogue source;
  Wanted wanted;
  std::map<std::string, Error> misfits;
};

const std::vector<TestPackage> kThree{{.version = "535.261.03"}, {.version = "550.163.01"}, {.version = "580.82.07"}};
const Error kMisfit{ErrorCode::not_found, "no driver package fits kernel 6.1.0-50-amd64", {}, {}, {}};

TEST_F(ChooseVersionTest, TakesTheOnlyOneWhenTheSpecNamesNone) {
  have({{.kernel = "6.1.0-50-amd64"}, {.kernel = ""}});
  EXPECT_EQ(version(""), "535.261.03");
}

TEST_F(ChooseVersionTest, TakesAVersionHoweverItsZerosAreWritten) {
  have({{}});
  EXPECT_EQ(version("535.261.3"), "535.261.03");
}

TEST_F(ChooseVersionTest, TakesTheNewestOfABranchARangeAndOfAll) {
  have({{.version = "535.183.06"}, {.version = "535.261.03"}, {.version = "550.163.01"}, {.version = "580.82.07"}});
  EXPECT_EQ(version("535"), "535.261.03");
  EXPECT_EQ(version("535.183"), "535.183.06");
  EXPECT_EQ(version("latest"), "580.82.07");
  EXPECT_EQ(version(">=535.200 <550"), "535.261.03");
  EXPECT_EQ(version("<=550"), "550.163.01");
  EXPECT_EQ(version("!=580.82.07"), "550.163.01");
}

TEST_F(ChooseVersionTest, SkipsUnsuitableVersionsAndExplainsItsChoice) {
  have(kThree);
  misfits = {{"580.82.07", kMisfit}};
  const auto chosen = choose("latest");
  ASSERT_TRUE(chosen) << to_text(chosen.error());
  EXPECT_EQ(chosen->version, "550.163.01");
  EXPECT_THAT(chosen->notes, ElementsAre("version: latest takes 550.163.01, the newest that fits",
                                         "580.82.07 is passed over: no driver package fits kernel 6.1.0-50-amd64"));
}

TEST_F(ChooseVersionTest, SaysNothingAboutAVersionThatTheSpecNames) {
  have(kThree);
  EXPECT_THAT(choose("550.163.01")->notes, IsEmpty());
}

TEST_F(ChooseVersionTest, KeepsTheLockedVersion) {
  have({{.version = "550.163.01"}});
  only_the_lock();
  const auto chosen = choose("latest");
  ASSERT_TRUE(chosen) << to_text(chosen.error());
  EXPECT_EQ(chosen->version, "550.163.01");
  EXPECT_THAT(chosen->notes, ElementsAre("version: latest takes 550.163.01, which the lock pins"));
}

TEST_F(ChooseVersionTest, AsksForTheTagsWhenTheLockHasNoneThatFits) {
  only_the_lock();
  EXPECT_THAT(asked("535.261.03"), ElementsAre("names"));
  EXPECT_THAT(asked(""), ElementsAre("names"));
  have({{.version = "550.163.01"}});
  only_the_lock();
  EXPECT_THAT(asked("580"), ElementsAre("names"));
  misfits = {{"550.163.01", kMisfit}};
  EXPECT_THAT(asked("latest"), ElementsAre("names"));
}

TEST_F(ChooseVersionTest, ReadsOnlyCandidateVersionsOfARegistryNewestFirst) {
  unread({"535.261.03-debian12", "550.163.01-debian12", "550.163.01-source-debian12-open", "580.82.07-debian12"});
  EXPECT_THAT(asked("535"), ElementsAre("535.261.03"));
  EXPECT_THAT(asked("latest"), ElementsAre("580.82.07"));
  have({{.version = "580.82.07"}});
  unread({"535.261.03-debian12", "550.163.01-debian12"});
  EXPECT_EQ(version("latest"), "580.82.07");
  misfits = {{"580.82.07", kMisfit}};
  EXPECT_THAT(asked("latest"), ElementsAre("550.163.01", "535.261.03"));
}

TEST_F(ChooseVersionTest, ChecksTagsThatNameNoVersionBeforeItGivesUp) {
  have({{.version = "535.261.03"}});
  unread({"stable"});
  EXPECT_EQ(version("latest"), "535.261.03");
  EXPECT_THAT(asked("580"), ElementsAre("stable"));
}

// Before the fix, a version that a registry's tags do not have emptied the catalogue, and the message said that nothing
// is there.
TEST_F(ChooseVersionTest, ReadsTheNearestVersionsForItsError) {
  unread({"470.256.02-debian12", "535.261.03-debian12", "550.163.01-debian12", "580.82.07-debian12"});
  EXPECT_THAT(asked("535.261.04"), ElementsAre("535.261.03", "550.163.01", "580.82.07"));
}

TEST_F(ChooseVersionTest, NamesTheExistingAndTheNearestVersions) {
  have({{.version = "535.261.03"}, {.kernel = "", .version = "535.261.03"}, {.version = "580.82.07"}});
  EXPECT_EQ(to_text(refused("550.54.14")),
            "error: oci://registry:5000/nvidia/driver has no driver 550.54.14\n"
            "  at:    spec.components.driver.version\n"
            "  versions: 535.261.03, 580.82.07\n"
            "  found: 535.261.03 open debian12 x86_64: kernels 6.1.0-50-amd64\n"
            "  found: 580.82.07 open debian12 x86_64: kernels 6.1.0-50-amd64\n"
            "  do:    write version: \"535.261.03\", the nearest existing one, or build a package of 550.54.14 with "
            "`slipway driver build`\n");
}

TEST_F(ChooseVersionTest, ListsTheVersionsWhenTheSpecNamesNoneOfThem) {
  have(kThree);
  const auto error = refused("");
  EXPECT_EQ(error.what, "oci://registry:5000/nvidia/driver holds several driver versions, and the spec names none");
  EXPECT_THAT(to_text(error), HasSubstr("535.261.03, 550.163.01, 580.82.07"));
  EXPECT_THAT(error.next, HasSubstr("version: latest"));
}

TEST_F(ChooseVersionTest, ExplainsWhyEachOfSeveralAllowedVersionsDoesNotFit) {
  have(kThree);
  misfits = {{"550.163.01", kMisfit}, {"580.82.07", kMisfit}};
  const auto text = to_text(refused(">=550"));
  EXPECT_THAT(text, HasSubstr("no driver that version: >=550 allows fits kernel 6.1.0-50-amd64"));
  EXPECT_THAT(text, HasSubstr("tried: 580.82.07: no driver package fits"));
  EXPECT_THAT(text, HasSubstr("tried: 550.163.01: no driver package fits"));
}

TEST_F(ChooseVersionTest, SaysThatASourceIsEmpty) {
  have({});
  const auto error = refused("535.261.03");
  EXPECT_EQ(error.what, "oci://registry:5000/nvidia/driver holds no driver package");
  EXPECT_EQ(error.where, "spec.components.driver.source");
  EXPECT_THAT(error.next, HasSubstr("slipway driver build"));
  EXPECT_THAT(error.next, HasSubstr("`slipway pkg push LAYOUT --to oci://registry:5000/nvidia/driver`"));
}

}  // namespace
}  // namespace slipway::driver
