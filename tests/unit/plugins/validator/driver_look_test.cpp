// SPDX-License-Identifier: Apache-2.0
#include "validator/driver_look.hpp"

#include <csignal>
#include <fstream>

#include <sys/wait.h>
#include <unistd.h>

#include "gpu_machine.hpp"

namespace slipway::validator {
namespace {

using std::chrono::milliseconds;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

class DriverLookTest : public testing::GpuMachine {
 protected:
  Result<DriverAnswers> look() { return child_.look({.named = NVML_MOCK}); }
  ChildLook child_{DRIVER_PROBE, milliseconds(5'000)};
};

std::string maps_of_this_process() {
  std::ifstream in("/proc/self/maps");
  return {std::istreambuf_iterator<char>(in), {}};
}

TEST_F(DriverLookTest, ReportsNvmlsAnswersFromAnotherProcess) {
  const auto answers = look();
  ASSERT_TRUE(answers) << to_text(answers.error());
  EXPECT_EQ(answers->version, "535.261.03");
  EXPECT_THAT(answers->gpus, ElementsAre(HasSubstr("GPU-00000000-"), HasSubstr("GPU-00000001-")));
  EXPECT_FALSE(answers->mig_without_instances);
  EXPECT_THAT(maps_of_this_process(), Not(HasSubstr(NVML_MOCK)));
  EXPECT_EQ(::waitpid(-1, nullptr, WNOHANG), -1) << "no child is left";
}

TEST_F(DriverLookTest, ReportsNvmlsError) {
  nvml.file("lost", "");
  const auto here = testing::look_here({.named = NVML_MOCK});
  const auto by_child = look();
  ASSERT_FALSE(here);
  ASSERT_FALSE(by_child);
  EXPECT_EQ(to_text(by_child.error()), to_text(here.error()));
  EXPECT_EQ(look_at_driver({.named = "/nowhere/libnvidia-ml.so.1"}, milliseconds(1'000)).error().code,
            child_.look({.named = "/nowhere/libnvidia-ml.so.1"}).error().code);
}

TEST_F(DriverLookTest, SaysThatADriverHangsAndThatItsLibraryCrashed) {
  ChildLook impatient(DRIVER_PROBE, milliseconds(100));
  nvml.file("hangs", "");
  const auto hanging = impatient.look({.named = NVML_MOCK});
  ASSERT_FALSE(hanging);
  EXPECT_THAT(hanging.error().what, HasSubstr("GPU 0"));
  std::filesystem::remove(nvml.at("hangs"));
  nvml.file("crashes", "");
  const auto crashed = look();
  ASSERT_FALSE(crashed);
  EXPECT_THAT(crashed.error().what, HasSubstr("crashed: signal"));
  std::filesystem::remove(nvml.at("crashes"));
  EXPECT_TRUE(look());
}

TEST(DriverAnswersText, IsReadAsItWasWritten) {
  const DriverAnswers answers{
      .version = "580.1", .gpus = {"GPU-1", "GPU-2"}, .addresses = {"00000000:1B:00.0"}, .mig_without_instances = true};
  const auto read = read_answers(canonical(to_json(Result<DriverAnswers>(answers))) + "\n");
  ASSERT_TRUE(read) << to_text(read.error());
  EXPECT_EQ(read->version, "580.1");
  EXPECT_EQ(read->gpus, answers.gpus);
  EXPECT_EQ(read->addresses, answers.addresses);
  EXPECT_TRUE(read->mig_without_instances);
  for (const char* text : {"", "{", "[]", "null", "{\"version\":1}", "{\"version\":\"1\",\"gpus\":{}}"})
    EXPECT_EQ(read_answers(text).error().code, ErrorCode::io) << text;
}

}  // namespace
}  // namespace slipway::validator
