// SPDX-License-Identifier: Apache-2.0
// `slipway driver kernels --coming`: the kernels that a package manager would install next, and what the source has.
#include "tests/component/cli/driver_root.hpp"

namespace slipway {
namespace {

using slipway::testing::DriverRoot;
using slipway::testing::Ran;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

/// Packages of 535.261.03 for 6.1.0-50-amd64 and 6.1.0-56-amd64.
const std::string kKernels = SLIPWAY_TEST_KERNELS;
const std::string kList = "var/lib/apt/lists/deb.debian.org_debian_dists_bookworm_main_binary-amd64_Packages";

class ComingKernels : public ::testing::Test {
 protected:
  ComingKernels() {
    root.put("lib/modules/6.1.0-50-amd64/modules.builtin", "");
    root.put("lib/modules/6.1.0-50-amd64/modules.order", "");
    root.put("var/lib/dpkg/status",
             "Package: linux-image-amd64\nStatus: install ok installed\nArchitecture: amd64\nVersion: 6.1.176-1\n"
             "Depends: linux-image-6.1.0-50-amd64 (= 6.1.176-1)\n\n");
    lists("56", "6.1.192-2");
    root.driver("version: \"535.261.03\", modules: open, source: {repository: \"" + kKernels + "\", trust: unsigned}");
  }
  void SetUp() override {
#ifndef __x86_64__
    GTEST_SKIP() << "the lists are for amd64";
#endif
  }
  void lists(const std::string& abi, const std::string& version) const {
    root.put(kList, "Package: linux-image-amd64\nArchitecture: amd64\nVersion: " + version +
                        "\nDepends: linux-image-6.1.0-" + abi + "-amd64 (= " + version + ")\n\n");
  }
  Ran coming(std::vector<std::string> more = {}) const {
    more.insert(more.begin(), {"driver", "kernels", "--coming", "--root", root.path("").string()});
    return root.bare(more);
  }
  std::string spec() const { return root.folder().at("host.yaml").string(); }

  DriverRoot root;
};

TEST_F(ComingKernels, ThatTheSourceHasAPackageForEndWithZeroAndChangeNothing) {
  ASSERT_EQ(root.slipway({"apply"}).code, 0);
  const auto before = root.tree();
  const Ran ran = coming();
  EXPECT_EQ(ran.code, 0) << ran.out << ran.err;
  EXPECT_THAT(ran.out, HasSubstr("COMING          SOURCE\n6.1.0-56-amd64  535.261.03 open\n"
                                 "    brought by linux-image-amd64 6.1.192-2\n"
                                 "apt would install these kernels next, by its lists of "));
  EXPECT_EQ(root.tree(), before);
}

TEST_F(ComingKernels, WithoutAPackageEndWithTwoAndTheNearestKernels) {
  ASSERT_EQ(root.slipway({"apply"}).code, 0);
  lists("99", "6.1.300-1");
  const Ran ran = coming();
  EXPECT_EQ(ran.code, 2) << ran.out << ran.err;
  EXPECT_THAT(ran.out, AllOf(HasSubstr("6.1.0-99-amd64  nothing\n"),
                             HasSubstr("no driver package fits kernel 6.1.0-99-amd64"), HasSubstr("6.1.0-56-amd64")));
  const Ran json = coming({"-o", "json"});
  EXPECT_EQ(json.code, 2);
  const Json value = Json::parse(json.out);
  EXPECT_EQ(value["kind"], "DriverKernels");
  EXPECT_EQ(value["coming"][0]["release"], "6.1.0-99-amd64");
  EXPECT_EQ(value["coming"][0]["modules"], "none");
  EXPECT_EQ(value["lists"]["manager"], "apt");
  EXPECT_EQ(value["lists"]["old"], false);
  EXPECT_TRUE(value["lists"].contains("time"));
}

// A nightly build asks before anything is applied to its root.
TEST_F(ComingKernels, OfARootWithoutADriverAreThoseOfASpec) {
  const Ran without = coming();
  EXPECT_EQ(without.code, 1);
  EXPECT_THAT(without.err, HasSubstr("there is no host spec"));
  const Ran ran = coming({"-f", spec()});
  EXPECT_EQ(ran.code, 0) << ran.out << ran.err;
  EXPECT_THAT(ran.out, HasSubstr("6.1.0-56-amd64  535.261.03 open\n"));
  lists("99", "6.1.300-1");
  EXPECT_EQ(coming({"-f", spec()}).code, 2);
}

TEST_F(ComingKernels, ThatAreNoneNeedNoSource) {
  lists("50", "6.1.176-1");
  const Ran ran = coming();
  EXPECT_EQ(ran.code, 0) << ran.err;
  EXPECT_THAT(ran.out, AllOf(HasSubstr("apt would install no other kernel next"), Not(HasSubstr("COMING"))));
}

TEST_F(ComingKernels, OfARootWithoutListsOrASourceThatDoesNotAnswerAreAnError) {
  root.driver("version: \"535.261.03\", modules: open, source: {repository: \"" + root.path("gone").string() +
              "\", trust: unsigned}");
  const Ran silent = coming({"-f", spec()});
  EXPECT_EQ(silent.code, 1) << silent.out;
  EXPECT_THAT(silent.err, HasSubstr("gone"));
  std::filesystem::remove_all(root.path("var/lib/apt"));
  const Ran ran = coming();
  EXPECT_EQ(ran.code, 1);
  EXPECT_THAT(ran.err, HasSubstr("no package lists of apt or dnf"));
  EXPECT_EQ(root.bare({"driver", "kernels", "-f", spec()}).code, 64) << "-f without --coming";
}

}  // namespace
}  // namespace slipway
