// SPDX-License-Identifier: Apache-2.0
#include "driver/choose/choose.hpp"

#include <gmock/gmock.h>

#include "driver/package/annotations.hpp"
#include "tests/unit/plugins/driver/test_catalogue.hpp"

namespace slipway::driver {
namespace {

using nvidia::Flavour;
using ::testing::HasSubstr;
using testing::TestPackage;

class ChooseTest : public ::testing::Test {
 protected:
  ChooseTest() {
    wanted.source = testing::kRepository;
    wanted.version = testing::kVersion;
    wanted.kernel_release = "6.1.0-50-amd64";
    wanted.os = "debian12";
    wanted.arch = "x86_64";
    wanted.flavours = {Flavour::open, Flavour::proprietary};
  }
  void have(const std::vector<TestPackage>& list) {
    std::vector<std::string> problems;
    packages = packages_of(testing::catalogue(list), problems);
    EXPECT_THAT(problems, ::testing::IsEmpty());
  }
  Choice chosen() {
    auto choice = choose_package(packages, wanted);
    EXPECT_TRUE(choice) << to_text(choice.error());
    return choice ? *choice : Choice{};
  }
  Error refused() {
    auto choice = choose_package(packages, wanted);
    EXPECT_FALSE(choice);
    return choice ? Error{} : choice.error();
  }

  Wanted wanted;
  std::vector<Package> packages;
};

TEST_F(ChooseTest, TakesThePackageForExactlyThatKernel) {
  have({{.kernel = "6.1.0-47-amd64"}, {.kernel = "6.1.0-50-amd64"}, {.kernel = ""}});
  EXPECT_EQ(chosen().package->kernel_release, "6.1.0-50-amd64");
  EXPECT_FALSE(chosen().compile);
  EXPECT_TRUE(chosen().notes.empty());
}

TEST_F(ChooseTest, TakesTheSecondFlavourWhenTheFirstHasNoPackageForTheKernelAndSaysSo) {
  have({{.flavour = "proprietary"}, {.kernel = ""}});
  EXPECT_EQ(chosen().package->flavour, Flavour::proprietary);
  EXPECT_THAT(chosen().notes.front(), HasSubstr("modules: proprietary, since the source has no open package"));
}

TEST_F(ChooseTest, NeverTakesAPackageOfAnotherSystemOrArchitecture) {
  have({{.os = "ubuntu24.04"}, {.arch = "aarch64"}});
  EXPECT_EQ(refused().code, ErrorCode::not_found);
  wanted.os = "";
  EXPECT_THAT(chosen().notes.front(), HasSubstr("using the package for ubuntu24.04"));
}

TEST_F(ChooseTest, CompilesTheSourceWhenThereIsNoPackageForTheKernel) {
  have({{.kernel = "6.1.0-47-amd64"}, {.kernel = ""}});
  EXPECT_TRUE(chosen().compile);
  EXPECT_TRUE(chosen().package->is_source());
  EXPECT_THAT(chosen().notes.front(),
              HasSubstr("oci://registry:5000/nvidia/driver has no package for kernel 6.1.0-50-amd64"));
}

TEST_F(ChooseTest, CompilesThoughThereIsAPackageWhenPrecompiledIsNever) {
  have({{.kernel = "6.1.0-50-amd64"}, {.kernel = ""}});
  wanted.precompiled = Precompiled::never;
  EXPECT_TRUE(chosen().compile);
}

TEST_F(ChooseTest, ExplainsAMissingPackageWhenCompilingIsForbidden) {
  have(
      {{.kernel = "6.1.0-47-amd64"}, {.kernel = "6.1.0-53-amd64"}, {.kernel = "6.12.107+deb12-amd64"}, {.kernel = ""}});
  wanted.precompiled = Precompiled::require;
  wanted.kernel_release = "6.1.0-54-amd64";
  EXPECT_EQ(
      to_text(refused()),
      "error: no driver package fits kernel 6.1.0-54-amd64\n"
      "  at:    spec.components.driver.source\n"
      "  asked: in oci://registry:5000/nvidia/driver for driver 535.261.03, open or proprietary modules, kernel "
      "6.1.0-54-amd64, debian12 x86_64\n"
      "  found: 535.261.03 open debian12 x86_64: kernels 6.1.0-53-amd64, 6.1.0-47-amd64, 6.12.107+deb12-amd64\n"
      "  found: a source package of it, but `precompiled: require` forbids compiling it\n"
      "  do:    allow compiling with `precompiled: prefer`, or boot a kernel that has a package: once 6.1.0-53-amd64 "
      "is installed, `slipway apply --kernel 6.1.0-53-amd64` prepares the driver for it, or build a package for "
      "kernel 6.1.0-54-amd64 (`slipway driver build --help` says how)\n");
}

TEST_F(ChooseTest, ShowsAFewNearestKernelsOfMany) {
  std::vector<TestPackage> many;
  for (int abi = 10; abi < 50; ++abi) many.push_back({.kernel = "6.1.0-" + std::to_string(abi) + "-amd64"});
  have(many);
  const auto error = refused();
  EXPECT_THAT(error.details[1].second,
              HasSubstr("kernels 6.1.0-49-amd64, 6.1.0-48-amd64, 6.1.0-47-amd64, 6.1.0-46-amd64, 6.1.0-45-amd64 and 35 "
                        "more"));
}

// 535.261.03 does not compile on 6.1.0-56, and the catalogue says so.
TEST_F(ChooseTest, RefusesASourceThatIsKnownNotToCompileThere) {
  have({{.kernel = "6.1.0-50-amd64"},
        {.kernel = "",
         .extra = {{annotation::kFails,
                    R"({"6.1.0-56-amd64": "nvidia/nv-pci.c:223:9: error: too few arguments to function"})"}}}});
  wanted.kernel_release = "6.1.0-56-amd64";
  const auto error = refused();
  EXPECT_EQ(error.code, ErrorCode::build_failed);
  EXPECT_EQ(error.what, "driver 535.261.03 is known not to compile for kernel 6.1.0-56-amd64");
  EXPECT_THAT(to_text(error), HasSubstr("compiler: nvidia/nv-pci.c:223:9: error: too few arguments to function"));
  EXPECT_THAT(error.next, HasSubstr("`slipway apply --kernel 6.1.0-50-amd64` prepares"));
}

TEST_F(ChooseTest, ReadsTheWholeCatalogueBeforeItReportsAMissingPackage) {
  wanted.complete = false;
  have({});
  EXPECT_EQ(refused().code, ErrorCode::needs_catalogue);
  have({{.kernel = "6.1.0-47-amd64"}});
  EXPECT_EQ(refused().code, ErrorCode::needs_catalogue);
  have({{.kernel = ""}});
  EXPECT_EQ(refused().code, ErrorCode::needs_catalogue);
  wanted.precompiled = Precompiled::never;
  EXPECT_TRUE(chosen().compile);
}

TEST_F(ChooseTest, NeedsNoNetworkForLockedPackages) {
  wanted.complete = false;
  have({{.kernel = "6.1.0-50-amd64"}});
  EXPECT_FALSE(chosen().compile);
  // The modules were compiled here before, from the same source package: a second apply keeps them.
  have({{.kernel = ""}});
  wanted.compiled_from = packages.front().digest;
  EXPECT_TRUE(chosen().compile);
}

}  // namespace
}  // namespace slipway::driver
