// SPDX-License-Identifier: Apache-2.0
// `slipway mig show`: an operator's view of the GPUs of a machine.
#include <gmock/gmock.h>

#include <slipway/json.hpp>
#include <slipway/text.hpp>

#include "machine.hpp"

namespace slipway {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

class MigShow : public MigMachine {};

TEST_F(MigShow, DrawsEqualGpusOnce) {
  make("a100-80x3,mig=3g.40gb/2g.20gb/1g.10gb");
  machine_ += "LC_ALL=C ";
  const Ran ran = mig("show");
  EXPECT_EQ(ran.status, 0) << ran.errors;
  EXPECT_THAT(ran.output, HasSubstr("GPU 0-2: NVIDIA A100-SXM4-80GB, MIG: 6 of 7 compute slices used\n"));
  EXPECT_THAT(ran.output, HasSubstr("            3g.40gb            |"));
  EXPECT_THAT(ran.output, HasSubstr("fits     1 x 1g.10gb"));
  EXPECT_EQ(ran.output.find("GPU ", 4), std::string::npos) << ran.output;
}

TEST_F(MigShow, DrawsInEveryLocaleWithItsCharacters) {
  make("h100x1,mig=1g.10gb");
  machine_ += "LC_ALL=C ";
  const std::string plain = mig("show").output;
  machine_ += "LC_ALL=C.UTF-8 ";
  const std::string drawn = mig("show").output;
  EXPECT_THAT(plain, HasSubstr("         +-------+-------+"));
  EXPECT_THAT(drawn, HasSubstr("         ┌───────┬───────┬"));
  EXPECT_EQ(lines_of(plain).size(), lines_of(drawn).size());
  EXPECT_THAT(drawn, Not(HasSubstr("\033"))) << "a file has no colours";
}

TEST_F(MigShow, HasColoursOnATerminalThatShowsThem) {
  make("h100x1,mig=1g.10gb");
  const std::string terminal = "python3 -c 'import pty, sys; pty.spawn(sys.argv[1:])' " SLIPWAY_PROGRAM " mig show";
  EXPECT_THAT(run(machine_ + "NO_COLOR= TERM=xterm " + terminal).output,
              HasSubstr("\033[1mGPU 0 (0000:18:00.0)\033[0m"));
  EXPECT_THAT(run(machine_ + "NO_COLOR=1 TERM=xterm " + terminal).output, Not(HasSubstr("\033")));
  EXPECT_THAT(run(machine_ + "NO_COLOR= TERM=dumb " + terminal).output, Not(HasSubstr("\033")));
}

TEST_F(MigShow, NamesTheUsersOfAnInstance) {
  make("h100x2,mig=1g.10gb");
  ASSERT_EQ(sim("process add 1 4711 10 compute trainer 13 0").status, 0);
  const Ran ran = mig("show");
  EXPECT_THAT(ran.output, HasSubstr("GPU 0 (0000:18:00.0): "));
  EXPECT_THAT(ran.output, HasSubstr("GPU 1 (0000:2a:00.0): "));
  EXPECT_THAT(ran.output, HasSubstr("in use   trainer (pid 4711) on 1g.10gb at 6\n"));
  const Json shown = Json::parse(mig("show -o json --gpu 1").output)["gpus"][0];
  EXPECT_EQ(shown["instances"][6]["holders"], Json({"trainer (pid 4711) on 1g.10gb at 6"}));
  EXPECT_EQ(shown["holders"], Json::array());
}

TEST_F(MigShow, NamesTheUsersOfAWholeGpu) {
  make("h100x1");
  ASSERT_EQ(sim("process add 0 4711 10 compute trainer").status, 0);
  const Ran ran = mig("show");
  EXPECT_THAT(ran.output, HasSubstr("whole GPU, MIG disabled"));
  EXPECT_THAT(ran.output, HasSubstr("in use   trainer (pid 4711) on GPU 0 (0000:18:00.0)\n"));
}

TEST_F(MigShow, SaysThatAModeWaitsForAReset) {
  make("a100-80x1");
  ASSERT_EQ(sim("gpu 0 no-reset on").status, 0);
  ASSERT_EQ(mig("apply -m -s -f " + config("devices: all, mig-enabled: true, mig-devices: {}")).status, 0);
  EXPECT_THAT(mig("show").output, HasSubstr("MIG disabled; the next reset"));
  const Json shown = Json::parse(mig("show -o json").output)["gpus"][0];
  EXPECT_EQ(shown["enabled"], false);
  EXPECT_EQ(shown["pending"], true);
}

TEST_F(MigShow, DrawsEveryKindOfMachine) {
  for (const char* profile : {"a100-40x8", "a100-80x8", "a10gx4", "a30x2", "b200x8", "gb200x4", "h100x8", "h200x8",
                              "l40sx4", "l4x1", "mixedx4", "rtx-pro-6000x8", "t4x4", "v100sxm3x16", "v100x8"}) {
    make(profile);
    const std::string config = folder_.at("named.yaml");
    const bool has_mig = mig("generate-config -f " + config).status == 0;
    if (has_mig) {
      EXPECT_EQ(mig("apply -c all-balanced -f " + config).status, 0) << profile;
    }
    const Ran ran = mig("show");
    EXPECT_EQ(ran.status, 0) << profile << ran.errors;
    for (const std::string& line : lines_of(ran.output)) EXPECT_LE(width_of(line), 80U) << profile << ": " << line;
    EXPECT_EQ(ran.output.find("2g.") != std::string::npos, has_mig) << profile << "\n" << ran.output;
    EXPECT_LE(lines_of(ran.output).size(), 16U) << profile << "\n" << ran.output;
  }
}

TEST_F(MigShow, DrawsASelfContainedPicture) {
  make("mixedx4");
  const Ran ran = mig("show -o svg");
  EXPECT_EQ(ran.status, 0) << ran.errors;
  EXPECT_TRUE(ran.output.starts_with("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<svg ")) << ran.output;
  EXPECT_TRUE(ran.output.ends_with("</svg>\n"));
  EXPECT_THAT(ran.output, HasSubstr("prefers-color-scheme: dark"));
  EXPECT_THAT(ran.output, Not(HasSubstr("href")));
  folder_.file("gpus.svg", ran.output);
  EXPECT_EQ(
      run("python3 -c 'import sys, xml.dom.minidom; xml.dom.minidom.parse(sys.argv[1])' " + folder_.at("gpus.svg"))
          .status,
      0);
}

TEST_F(MigShow, TakesNumbersOfGpus) {
  make("h100x4");
  const Ran some = mig("show --gpu 1,3 --gpu 2");
  EXPECT_THAT(some.output, HasSubstr("GPU 1-3: "));
  const Ran none = mig("show --gpu 4");
  EXPECT_EQ(none.status, 1);
  EXPECT_EQ(none.output, "");
  EXPECT_THAT(none.errors, HasSubstr("there is no GPU 4"));
  EXPECT_THAT(none.errors, HasSubstr("the GPUs of this machine are 0 to 3"));
  EXPECT_EQ(mig("show --gpu first").status, 64);
  EXPECT_EQ(mig("show --gpu -1").status, 64);
  EXPECT_EQ(mig("show -o yaml").status, 64);
  EXPECT_EQ(mig("show 1").status, 64);
}

}  // namespace
}  // namespace slipway
