// SPDX-License-Identifier: Apache-2.0
// `spec.expect`: a host that has lost GPUs from its PCI bus reports it, whatever `hardware` says.
#include <fstream>

#include "tests/component/cli/driver_root.hpp"

namespace slipway {
namespace {

using slipway::testing::DriverRoot;
using slipway::testing::Ran;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

constexpr const char* kThird = "0000:3a:00.0";

class Expect : public ::testing::Test {
 protected:
  Expect() { spec("{gpus: 8, product: '10de:2330', addresses: ['0000:18:00.0', '0000:3a:00.0']}"); }

  void spec(const std::string& expect, const std::string& hardware = "detect") const {
    root.folder().file(
        "host.yaml", "apiVersion: slipway.dev/v1\nkind: Host\nmetadata: {name: test}\nspec:\n  hardware: " + hardware +
                         "\n  expect: " + expect +
                         "\n  components:\n    driver: {version: \"535.261.03\", modules: open, source: {repository: " +
                         testing::kPackage + ", trust: unsigned}}\n    cdi: {}\n");
  }
  std::string file() const { return root.folder().at("host.yaml").string(); }
  /// Returns the machine of h100x8 without its third GPU.
  std::string seven() const {
    std::ifstream in(std::string(SLIPWAY_SOURCES) + "/sim/profiles/h100x8.yaml");
    std::string text;
    for (std::string line; std::getline(in, line);)
      if (line.find(kThird) == std::string::npos) text += line + "\n";
    root.folder().file("seven.yaml", text);
    return root.folder().at("seven.yaml").string();
  }

  DriverRoot root;
};

TEST_F(Expect, OfAWholeMachineIsMet) {
  ASSERT_EQ(root.run({"apply"}).code, 0);
  const Ran verify = root.run({"verify", "-f", file()});
  EXPECT_EQ(verify.code, 0) << verify.out;
  EXPECT_THAT(verify.out, HasSubstr("pass  slipway.expect: 8 GPUs are on the PCI bus, as the spec expects"));
  const Ran status = root.run({"status", "-o", "json"});
  EXPECT_EQ(status.code, 0) << status.out;
  EXPECT_EQ(Json::parse(status.out)["expect"]["status"], "pass");
}

// Before the fix, 7 of 8 GPUs passed everything, because the spec could not require eight.
TEST_F(Expect, FailsVerifyAndDoctorAndBeginsStatusWhereAGpuIsMissing) {
  ASSERT_EQ(root.run({"apply"}).code, 0);
  const std::string text = "7 GPUs are on the PCI bus, and the spec expects 8; 0000:3a:00.0 is missing";
  for (const std::string command : {"verify", "doctor"}) {
    const Ran ran = root.run({command, "-f", file()}, seven());
    EXPECT_EQ(ran.code, 1) << command << ran.out;
    EXPECT_THAT(ran.out, HasSubstr("fail  slipway.expect: " + text)) << command;
  }
  const Ran status = root.run({"status"}, seven());
  EXPECT_EQ(status.code, 1) << status.out;
  EXPECT_THAT(status.out, StartsWith("GPUs are not as expected: " + text));
  EXPECT_THAT(status.out, Not(HasSubstr("Nothing of the last apply is left to do")));
  const Json json = Json::parse(root.run({"status", "-o", "json"}, seven()).out);
  EXPECT_EQ(json["expect"]["status"], "fail");
  EXPECT_EQ(json["next"][0]["problem"], text);
}

// 8 GPUs are on the bus, and the driver shows 7: before the fix, verify passed, and doctor failed for the same finding.
TEST_F(Expect, IsComparedWithTheGpusThatAnswer) {
  const std::string machine = "h100x8,driver=535.261.03";
  root.put("usr/bin/slipway-cdi-hook", "");
  ASSERT_EQ(root.run({"apply"}).code, 0);
  ASSERT_EQ(root.run({"apply"}, machine).code, 0);
  for (const char* change : {"gpu 2 lost", "gpu 2 remove"}) {
    SCOPED_TRACE(change);
    ASSERT_EQ(std::system((SLIPWAY_SIM_PROGRAM " " + root.path("run/slipway/sim").string() + " " + change).c_str()), 0);
    const Ran apply = root.run({"apply"}, machine);
    EXPECT_EQ(apply.code, 0) << "nothing that it changed is at fault: " << apply.out << apply.err;
    for (const std::vector<std::string>& words :
         {std::vector<std::string>{"verify"}, {"verify", "--boot"}, {"doctor"}}) {
      const Ran ran = root.run(words, machine);
      EXPECT_EQ(ran.code, 1) << ran.out;
      EXPECT_THAT(ran.out, HasSubstr("fail  cdi.lost: "));
      EXPECT_THAT(ran.out, HasSubstr("slipway.expect: 7 of the 8 GPUs on the PCI bus answer, and the spec expects 8; "
                                     "0000:3a:00.0 does not"));
    }
  }
}

// Before the fix, a GPU host without GPUs passed.
TEST_F(Expect, FailsWithoutAnyGpu) {
  for (const char* hardware : {"detect", "assume"}) {
    spec("{gpus: 8}", hardware);
    const Ran apply = root.run({"apply"}, "empty");
    const Ran verify = root.run({"verify", "-f", file()}, "empty");
    EXPECT_EQ(verify.code, 1) << hardware << apply.out << verify.out;
    EXPECT_THAT(verify.out, HasSubstr("no GPU is on the PCI bus, and the spec expects 8")) << hardware;
  }
}

// Nothing is applied on such a host, so no generation records the expected number.
TEST_F(Expect, OfTheRootsOwnSpecIsReportedByStatus) {
  std::filesystem::create_directories(root.path("etc/slipway"));
  std::filesystem::copy_file(file(), root.path("etc/slipway/host.yaml"));
  const Ran status = root.run({"status"}, "empty");
  EXPECT_EQ(status.code, 1) << status.out;
  EXPECT_THAT(status.out, StartsWith("GPUs are not as expected: no GPU is on the PCI bus"));
}

// Before the fix, seven GPUs, or other models, were accepted without a warning: exit code 0.
TEST_F(Expect, IsAWarningOfPlanAndApply) {
  const std::string missing = "7 GPUs are on the PCI bus, and the spec expects 8; 0000:3a:00.0 is missing";
  const auto warned = [&](const std::string& machine, const std::string& text) {
    for (const std::string command : {"plan", "apply"}) {
      EXPECT_THAT(root.run({command}, machine).out, ::testing::AllOf(HasSubstr("\nwarning: "), HasSubstr(text)))
          << command;
      const Ran ran = root.run({command, "-o", "json"}, machine);
      EXPECT_EQ(ran.code, 0) << command << ran.err;
      const Json warnings = Json::parse(ran.out)["warnings"];
      ASSERT_EQ(warnings.size(), 1U);
      EXPECT_EQ(warnings[0]["name"], "slipway.expect");
      EXPECT_THAT(warnings[0]["text"].get<std::string>(), HasSubstr(text));
    }
  };
  ASSERT_EQ(root.run({"apply"}, seven()).code, 0);
  warned(seven(), missing);
  spec("{gpus: 8, product: '10de:2331'}");
  ASSERT_EQ(root.run({"apply"}).code, 0);
  warned("h100x8", "and the spec expects 10de:2331");
  spec("{gpus: 8}");
  EXPECT_THAT(root.run({"apply"}).out, Not(HasSubstr("warning: ")));
}

TEST_F(Expect, FailsForAnotherProduct) {
  const Ran verify = root.run({"verify", "-f", file()}, "a100-80x8");
  EXPECT_EQ(verify.code, 1) << verify.out;
  EXPECT_THAT(verify.out, HasSubstr("is 10de:20b2"));
  EXPECT_THAT(verify.out, HasSubstr("and the spec expects 10de:2330"));
}

TEST_F(Expect, WarnsOfMoreThanExpected) {
  spec("{gpus: 4}");
  ASSERT_EQ(root.run({"apply"}).code, 0);
  const Ran verify = root.run({"verify", "-f", file()});
  EXPECT_EQ(verify.code, 0) << verify.out;
  EXPECT_THAT(verify.out, HasSubstr("warning  slipway.expect: 8 GPUs are on the PCI bus, and the spec expects 4"));
  EXPECT_EQ(root.run({"status"}).code, 0);
}

TEST_F(Expect, IsCountedFromTheFirstBootOfAnImage) {
  const auto image = [&](std::vector<std::string> words) { return root.slipway(words); };
  ASSERT_EQ(image({"apply", "--kernel", "6.1.0-50-amd64"}).code, 0);
  const Ran verify = image({"verify", "-f", file(), "--kernel", "6.1.0-50-amd64"});
  EXPECT_EQ(verify.code, 0) << verify.out << verify.err;
  EXPECT_THAT(verify.out, HasSubstr("not-exercised  slipway.expect: the spec expects 8 GPUs, which are counted from"));
  const Ran status = image({"status", "-o", "json"});
  EXPECT_EQ(status.code, 0) << status.out;
  EXPECT_FALSE(Json::parse(status.out).contains("expect"));
  // The machine that boots it has seven.
  EXPECT_EQ(root.run({"verify"}, seven()).code, 1);
  EXPECT_EQ(root.run({"status"}, seven()).code, 1);
}

TEST_F(Expect, IsRecordedByInit) {
  const Ran init = root.run({"init"}, seven());
  ASSERT_EQ(init.code, 0) << init.err;
  EXPECT_THAT(init.out, HasSubstr("  expect:\n    gpus: 7\n    product: \"10de:2330\"\n    addresses:\n"
                                  "      - \"0000:18:00.0\"\n      - \"0000:2a:00.0\"\n      - \"0000:5d:00.0\"\n"));
  EXPECT_THAT(root.slipway({"init"}).out, Not(HasSubstr("\n  expect:")));
  const Ran mixed = root.run({"init"}, "mixedx4");
  EXPECT_THAT(mixed.out, HasSubstr("  expect:\n    gpus: 4\n    addresses:\n"));
}

TEST_F(Expect, IsExplainedAndAMistakeHasItsPlace) {
  const Ran whole = root.slipway({"explain", "expect"});
  EXPECT_EQ(whole.code, 0) << whole.err;
  for (const char* key : {"spec.expect (", "spec.expect.gpus (integer; required", "spec.expect.product", ".addresses"})
    EXPECT_THAT(whole.out, HasSubstr(key));
  EXPECT_THAT(root.slipway({"explain", "expect.gpus"}).out, HasSubstr("How many GPUs"));
  EXPECT_THAT(root.slipway({"explain", "spec"}).out, HasSubstr("hardware (assume, require or detect)"));
  EXPECT_THAT(root.slipway({"explain", "spec.hardware"}).out, HasSubstr("What an absent GPU means"));
  const Ran none = root.slipway({"explain", "expect.gpu"});
  EXPECT_EQ(none.code, 64);
  EXPECT_THAT(none.err, HasSubstr("did you mean 'gpus'?"));
}

TEST_F(Expect, IsPartOfAGeneration) {
  ASSERT_EQ(root.run({"apply"}).code, 0);
  spec("{gpus: 7}");
  ASSERT_EQ(root.run({"apply"}, seven()).code, 0);
  EXPECT_EQ(root.run({"status"}, seven()).code, 0);
  EXPECT_THAT(root.slipway({"diff", "1"}).out, HasSubstr("expect.gpus"));
}

}  // namespace
}  // namespace slipway
