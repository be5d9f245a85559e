// SPDX-License-Identifier: Apache-2.0
// CDI specs that would not work, and GPUs that come and go: everybody who sees it says so.
#include <cstdlib>

#include "tests/component/cli/driver_root.hpp"

namespace slipway {
namespace {

using slipway::testing::DriverRoot;
using slipway::testing::Ran;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr const char* kMachine = "h100x8,driver=535.261.03";

// The spec was printed, and nothing was said.
TEST(CdiGenerate, WarnsOfAHookProgramThatIsNotThere) {
  const DriverRoot root;
  ASSERT_EQ(root.run({"apply"}).code, 0);
  const std::vector<std::string> rest{"generate",
                                      "--sim",
                                      kMachine,
                                      "--root",
                                      root.path("").string(),
                                      "--driver-root",
                                      "/usr/lib/slipway/store/driver/current/userspace",
                                      "--dev-root",
                                      "/"};
  for (const std::vector<std::string>& tool : {std::vector<std::string>{"cdi"}, {"toolkit", "cdi"}}) {
    std::vector<std::string> words = tool;
    words.insert(words.end(), rest.begin(), rest.end());
    const Ran missing = root.bare(words);
    EXPECT_EQ(missing.code, 0) << missing.err;
    EXPECT_THAT(missing.out, HasSubstr("kind: nvidia.com/gpu"));
    EXPECT_THAT(missing.err, HasSubstr("warning: the spec names the hook program /usr/bin/slipway-cdi-hook"));
    EXPECT_THAT(missing.err, HasSubstr("--nvidia-cdi-hook-path"));
    words.insert(words.end(), {"--disable-hook", "all"});
    EXPECT_THAT(root.bare(words).err, Not(HasSubstr("hook program")));
  }
}

TEST(CdiPlan, NotesAHookProgramThatIsNotThere) {
  const DriverRoot root;
  ASSERT_EQ(root.run({"apply"}).code, 0);
  root.spec("    driver: {version: \"535.261.03\", modules: open, source: {repository: " + testing::kPackage +
            ", trust: unsigned}}\n    cdi: {}\n");
  const Ran plan = root.run({"plan"}, kMachine);
  EXPECT_THAT(plan.out, HasSubstr("hook program /usr/bin/slipway-cdi-hook, which is not there")) << plan.err;
  root.put("usr/bin/slipway-cdi-hook", "");
  EXPECT_THAT(root.run({"plan"}, kMachine).out, Not(HasSubstr("hook program")));
}

// What NVML says is no file: an answer that was kept said for ever that the GPU is lost.
TEST(CdiPlan, FollowsAGpuThatIsLostAndFoundAgain) {
  const DriverRoot root;
  ASSERT_EQ(root.run({"apply"}).code, 0);
  root.spec("    driver: {version: \"535.261.03\", modules: open, source: {repository: " + testing::kPackage +
            ", trust: unsigned}}\n    cdi: {}\n");
  const auto sim = [&](const std::string& change) {
    return std::system((SLIPWAY_SIM_PROGRAM " " + root.path("run/slipway/sim").string() + " " + change).c_str());
  };
  EXPECT_THAT(root.run({"plan"}, kMachine).out, Not(HasSubstr("fell off the bus")));
  for (int i = 0; i < 2; ++i) {
    ASSERT_EQ(sim("gpu 3 lost"), 0);
    const Ran lost = root.run({"plan"}, kMachine);
    EXPECT_THAT(lost.out + lost.err, HasSubstr("fell off the bus"));
    ASSERT_EQ(sim("gpu 3 found"), 0);
    const Ran found = root.run({"plan"}, kMachine);
    EXPECT_THAT(found.out + found.err, Not(HasSubstr("fell off the bus")));
  }
}

// It was taken for none, since only the simulated NVML was not made then.
TEST(SimulatedMachine, WithASettingThatIsNoneIsAnError) {
  const DriverRoot root;
  const Ran plan = root.run({"plan"}, "h100x8,drvier=1");
  EXPECT_EQ(plan.code, 1) << plan.out;
  EXPECT_THAT(plan.err, AllOf(HasSubstr("drvier"), HasSubstr("driver=VERSION")));
}

}  // namespace
}  // namespace slipway
