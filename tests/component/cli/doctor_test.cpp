// SPDX-License-Identifier: Apache-2.0
#include <cstdlib>

#include "tests/component/cli/driver_root.hpp"

namespace slipway {
namespace {

using slipway::testing::DriverRoot;
using slipway::testing::Ran;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

constexpr const char* kBootedMachine = "h100x8,driver=535.261.03";

TEST(Doctor, FindsNothingInARootThatMatchesTheSpec) {
  const DriverRoot root;
  ASSERT_EQ(root.run({"apply"}, "l4x1").code, 0);
  const auto before = root.tree();
  const Ran doctor = root.run({"doctor", "-f", root.folder().at("host.yaml").string()}, "l4x1");
  EXPECT_EQ(doctor.code, 0) << doctor.out << doctor.err;
  EXPECT_THAT(doctor.out, HasSubstr("Nothing is wrong"));
  EXPECT_EQ(root.tree(), before);
}

// Before the fix, a missing fabric manager was a failure in doctor and a warning in verify.
TEST(Doctor, VerifyAndPlanFindAMissingFabricManager) {
  const DriverRoot root;
  const std::string need =
      "the NVSwitches of this machine need NVIDIA's Fabric Manager 535.261.03, and none is installed";
  EXPECT_THAT(root.run({"plan"}).out, HasSubstr("note: " + need));
  ASSERT_EQ(root.run({"apply"}).code, 0);
  for (const char* command : {"doctor", "verify"}) {
    const Ran ran = root.run({command, "-f", root.folder().at("host.yaml").string()});
    EXPECT_EQ(ran.code, 0) << "no CUDA program runs on a simulated machine";
    EXPECT_THAT(ran.out, HasSubstr("warning  driver.fabric-manager: " + need));
  }
}

TEST(Doctor, NamesWhatIsBrokenWithItsRemedyAndExitsWithOne) {
  const DriverRoot root;
  ASSERT_EQ(root.run({"apply"}).code, 0);
  std::filesystem::remove(root.path("usr/lib/slipway/driver.json"));
  const Ran doctor = root.run({"doctor", "driver"});
  EXPECT_EQ(doctor.code, 1) << doctor.out;
  EXPECT_THAT(doctor.out, HasSubstr("fail  driver.installed"));
  EXPECT_THAT(doctor.out, HasSubstr("do: run `slipway apply --root "));
  EXPECT_THAT(doctor.out, Not(HasSubstr("  pass  ")));
}

TEST(Doctor, NamesAKernelWithoutAPackageAndTheExistingPackages) {
  const DriverRoot root;
  const Ran doctor =
      root.run({"doctor", "--kernel", "6.1.0-999-amd64", "-f", root.folder().at("host.yaml").string(), "-o", "json"});
  EXPECT_EQ(doctor.code, 1) << doctor.err;
  const Json result = Json::parse(doctor.out);
  EXPECT_EQ(result["kind"], "Diagnosis");
  EXPECT_EQ(result["passed"], false);
  std::string plan;
  for (const Json& finding : result["components"]["driver"])
    if (finding["name"] == "driver.plan") plan = finding["text"].get<std::string>() + finding.value("remedy", "");
  EXPECT_THAT(plan, HasSubstr("6.1.0-999-amd64"));
}

// Before the fix, driver.apply, driver.installed and driver.owned advised an apply, which cannot help, and the cause
// was in the eighth line.
TEST(Doctor, BeginsWithTheMissingPackageAndAdvisesNoApplyThatCannotHelp) {
  const DriverRoot root;
  ASSERT_EQ(root.run({"apply"}).code, 0);
  const std::string file = root.folder().at("host.yaml").string();
  const Ran doctor = root.run({"doctor", "--kernel", "6.1.0-999-amd64", "-f", file});
  EXPECT_EQ(doctor.code, 1) << doctor.err;
  EXPECT_THAT(doctor.out, StartsWith("  fail  driver.plan: "));
  EXPECT_THAT(doctor.out, HasSubstr("\n      leads to driver.installed: "));
  EXPECT_THAT(doctor.out, Not(HasSubstr("do: run `slipway apply")));
  EXPECT_THAT(doctor.out, HasSubstr("1 thing is wrong (2 checks fail), 1 with a warning"))
      << "no Fabric Manager is the other one";
  const Json result = Json::parse(root.run({"doctor", "--kernel", "6.1.0-999-amd64", "-f", file, "-o", "json"}).out);
  std::string cause;
  for (const Json& finding : result["components"]["driver"])
    if (finding["name"] == "driver.installed") cause = finding.value("cause", "");
  EXPECT_EQ(cause, "driver.plan") << result;
}

TEST(Doctor, RefusesAComponentThatIsMissing) {
  const DriverRoot root;
  const Ran doctor = root.run({"doctor", "drver", "-f", root.folder().at("host.yaml").string()});
  EXPECT_EQ(doctor.code, 64);
  EXPECT_THAT(doctor.err, HasSubstr("drver"));
}

// Before the fix, all checks of such a component were skipped, and verify printed "Verified.".
TEST(Doctor, AndVerifyFailForAComponentThatWasNeverApplied) {
  const DriverRoot root;
  root.spec("    gfd: {}\n    dcgm: {}\n");
  const std::string file = root.folder().at("host.yaml").string();
  for (const char* command : {"verify", "doctor"})
    for (const char* hardware : {"detect", "assume"}) {
      root.folder().file("host.yaml",
                         "apiVersion: slipway.dev/v1\nkind: Host\nmetadata: {name: test}\nspec:\n  hardware: " +
                             std::string(hardware) + "\n  components: {gfd: {}, dcgm: {}}\n");
      const Ran named = root.run({command, "gfd", "-f", file}, kBootedMachine);
      EXPECT_EQ(named.code, 1) << named.out << named.err;
      EXPECT_THAT(named.out,
                  HasSubstr("fail  gfd.owned: gfd is not provisioned here\n      do: `slipway apply --root "));
      EXPECT_THAT(named.out, Not(HasSubstr("Verified.")));
      EXPECT_EQ(root.run({command, "-f", file}, kBootedMachine).code, 1);
    }
  ASSERT_EQ(root.run({"apply", "--only", "dcgm", "-f", file, "--yes"}).code, 0) << root.error_text();
  const Ran other = root.run({"verify", "gfd"});
  EXPECT_EQ(other.code, 64) << "the generation in force has dcgm alone";
  EXPECT_THAT(other.err, HasSubstr("'gfd' is neither in the spec nor installed here"));
}

TEST(Verify, ThatSkipsEveryCheckHasVerifiedNothing) {
  const DriverRoot root;
  root.spec("    gfd: {}\n");
  const Ran verify = root.run({"verify", "-f", root.folder().at("host.yaml").string()}, "empty");
  EXPECT_EQ(verify.code, 0) << "a machine without a GPU needs no gfd";
  EXPECT_THAT(verify.out, HasSubstr("Nothing was verified: "));
  EXPECT_THAT(verify.out, Not(HasSubstr("Verified.")));
}

// Before the fix, doctor had two entries: one for the file, and one for the failed apply.
TEST(Doctor, HasOneEntryForAFileThatMadeTheLastApplyFail) {
  const DriverRoot root;
  root.put("usr/bin/containerd", "x");
  std::filesystem::permissions(root.path("usr/bin/containerd"), std::filesystem::perms(0755));
  root.put("etc/containerd/config.toml", "version = [\n");
  root.spec("    gfd: {}\n    runtime: {}\n");
  EXPECT_EQ(root.run({"apply", "--yes"}).code, 1);
  const Ran doctor = root.run({"doctor", "-f", root.folder().at("host.yaml").string()});
  EXPECT_EQ(doctor.code, 1);
  EXPECT_THAT(doctor.out, StartsWith("  fail  runtime.apply: "));
  EXPECT_THAT(doctor.out, HasSubstr("\n      leads to runtime.containerd: "));
  EXPECT_THAT(doctor.out, HasSubstr("\n1 thing is wrong ("));
}

// Before the fix, the advice was `nvidia-smi -r` and `slipway apply`, which act on this machine.
TEST(Doctor, NamesTheSimulatedMachineWhoseGpuItSpeaksOf) {
  const DriverRoot root;
  root.spec("    driver: {version: \"535.261.03\", modules: open, source: {repository: " + testing::kPackage +
            ", trust: unsigned}}\n    cdi: {}\n");
  ASSERT_EQ(root.run({"apply", "--yes"}, kBootedMachine).code, 0) << root.error_text();
  const std::string lose = SLIPWAY_SIM_PROGRAM " " + root.path("run/slipway/sim").string() + " gpu 3 lost";
  ASSERT_EQ(std::system(lose.c_str()), 0);
  const std::string place = root.folder().at("root").string();
  EXPECT_THAT(root.run({"doctor"}, kBootedMachine).out,
              HasSubstr("do: on the simulated machine (--root " + place + " --sim " + kBootedMachine +
                        "), not on this one: reset the GPU (`slipway pause --root " + place));
  const Ran generate = root.bare({"cdi", "generate", "--sim", kBootedMachine});
  EXPECT_EQ(generate.code, 1);
  EXPECT_THAT(generate.err, HasSubstr("`slipway apply --root DIR --sim " + std::string(kBootedMachine) + "`"));
}

// Before the fix, status told of no GPU where no service runs.
TEST(Status, BeginsWithALostGpuWhereNoServiceRuns) {
  const DriverRoot root;
  root.folder().file("host.yaml",
                     "apiVersion: slipway.dev/v1\nkind: Host\nmetadata: {name: test}\nspec:\n  expect: {gpus: 8}\n"
                     "  components:\n    driver: {version: \"535.261.03\", modules: open, source: {repository: " +
                         testing::kPackage + ", trust: unsigned}}\n    cdi: {}\n");
  ASSERT_EQ(root.run({"apply", "--yes"}, kBootedMachine).code, 0) << root.error_text();
  EXPECT_THAT(root.run({"status"}, kBootedMachine).out, StartsWith("Host "));
  const std::string lose = SLIPWAY_SIM_PROGRAM " " + root.path("run/slipway/sim").string() + " gpu 3 lost";
  ASSERT_EQ(std::system(lose.c_str()), 0);
  const Ran status = root.run({"status"}, kBootedMachine);
  EXPECT_EQ(status.code, 1) << "the spec expects 8 GPUs";
  EXPECT_THAT(status.out, StartsWith("GPU 3 (0000:5d:00.0) is lost"));
  EXPECT_THAT(status.out, HasSubstr("\nNext\n  GPU 3 (0000:5d:00.0) is lost"));
  EXPECT_THAT(status.out, HasSubstr("reset the GPU"));
}

}  // namespace
}  // namespace slipway
