// SPDX-License-Identifier: Apache-2.0
// The costs of tools that only read and end: on a real machine each of these operations costs milliseconds.
#include <charconv>
#include <map>

#include <slipway/text.hpp>

#include "tests/component/cli/driver_root.hpp"

namespace slipway {
namespace {

using slipway::testing::DriverRoot;
using slipway::testing::Ran;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Key;
using ::testing::Not;

using Words = std::vector<std::string>;

const std::string kUserspace = "/usr/lib/slipway/store/driver/current/userspace";

/// Tools that read the machine once.
const std::vector<Words> kTools{{"gfd", "labels"},
                                {"gfd", "devices"},
                                {"cdi", "generate", "--driver-root", kUserspace, "--dev-root", "/"},
                                {"deviceplugin", "resources"},
                                {"mig", "export"},
                                {"mig", "show"},
                                {"dcgm", "metrics"},
                                {"dcgm", "overview"}};

std::string text_of(const std::string& file) {
  std::ifstream in(file);
  return {std::istreambuf_iterator<char>(in), {}};
}

/// A machine with the demonstration driver.
class QuickTools : public ::testing::Test {
 protected:
  void SetUp() override { ASSERT_EQ(root_.run({"apply"}, machine_).code, 0) << root_.error_text(); }

  /// Returns the command line of a tool for the simulated machine.
  Words line(const Words& tool) const {
    Words words = tool;
    words.insert(words.end(), {"--sim", machine_, "--root", root_.path("").string()});
    return words;
  }

  std::string sim(const std::string& words) const {
    const std::string file = root_.folder().at("calls").string();
    const std::string command =
        SLIPWAY_SIM_PROGRAM " " + root_.path("run/slipway/sim").string() + " " + words + " > " + file;
    EXPECT_EQ(std::system(command.c_str()), 0);
    return text_of(file);
  }

  /// Returns how often a tool calls each function of NVML.
  std::map<std::string, unsigned> calls_of(const Words& tool) const {
    (void)root_.bare(line(tool));  // creates the machine if this is the first command
    sim("forget-calls");
    const Ran ran = root_.bare(line(tool));
    EXPECT_EQ(ran.code, 0) << ran.err;
    std::map<std::string, unsigned> calls;
    for (const std::string& row : lines_of(sim("calls"))) {
      const std::size_t space = row.find(' ');
      std::from_chars(row.data() + space + 1, row.data() + row.size(), calls[row.substr(0, space)]);
    }
    return calls;
  }

  std::string machine_ = "h100x8,driver=535.261.03";
  DriverRoot root_;
};

/// Returns how many bytes were read of each "config" file below /sys, from a trace of strace.
std::map<std::string, unsigned> config_bytes(const std::string& trace) {
  std::map<std::string, unsigned> bytes;
  for (const std::string& row : lines_of(trace)) {
    const std::size_t end = row.find("/config>");
    const std::size_t begin = row.find("/sys/");
    const std::size_t result = row.rfind(" = ");
    if (end == std::string::npos || begin > end || result == std::string::npos) continue;
    unsigned count = 0;
    std::from_chars(row.data() + result + 3, row.data() + row.size(), count);
    bytes[row.substr(begin, end - begin)] += count;
  }
  return bytes;
}

// Before the fix, all 4,096 bytes were read, which takes 25 ms for each GPU of a virtual machine.
TEST_F(QuickTools, ReadAtMost256BytesOfTheConfigurationSpaceOfAFunction) {
  if (std::system("strace -o /dev/null true") != 0) GTEST_SKIP() << "strace does not work here";
  ::setenv("ASAN_OPTIONS", "detect_leaks=0", 1);  // the leak check does not work under strace
  const std::string trace = root_.folder().at("trace").string();
  const std::string program = root_.program;
  for (const Words& tool : kTools) {
    (void)root_.bare(line(tool));
    Words traced{"-f", "-y", "-e", "trace=read,pread64,readv,preadv", "-o", trace, program};
    const Words rest = line(tool);
    traced.insert(traced.end(), rest.begin(), rest.end());
    root_.program = "/usr/bin/strace";
    const Ran ran = root_.bare(traced);
    root_.program = program;
    EXPECT_EQ(ran.code, 0) << ran.err;
    const auto bytes = config_bytes(text_of(trace));
    EXPECT_EQ(bytes.size(), tool == kTools[0] || tool == kTools[1] ? 8U : 0U) << joined(tool);
    for (const auto& [function, count] : bytes) EXPECT_LE(count, 256U) << joined(tool) << ": " << function;
  }
  ::unsetenv("ASAN_OPTIONS");
}

// A shutdown takes 10 ms, just before the kernel would do the same.
TEST_F(QuickTools, LeaveNvmlToTheEndOfTheirProcess) {
  for (const Words& tool : kTools) {
    const auto calls = calls_of(tool);
    EXPECT_THAT(calls, Contains(Key("nvmlInit_v2"))) << joined(tool);
    EXPECT_THAT(calls, Not(Contains(Key("nvmlShutdown")))) << joined(tool);
  }
}

// Answers of the GPU's own processor take 0.2 to 3 ms.
TEST_F(QuickTools, MakeNoSlowCallsForLabelsAndSpecs) {
  for (const Words& tool : {kTools[0], kTools[2]}) {
    const auto calls = calls_of(tool);
    EXPECT_EQ(calls.at("nvmlDeviceGetMigMode"), 8U) << joined(tool);
    for (const char* dear :
         {"nvmlDeviceGetMaxMigDeviceCount", "nvmlDeviceGetGpuInstanceProfileInfo",
          "nvmlDeviceGetGpuInstanceProfileInfoV", "nvmlDeviceGetEccMode", "nvmlDeviceGetMaxClockInfo",
          "nvmlDeviceGetTotalEnergyConsumption", "nvmlDeviceGetFieldValues"})
      EXPECT_THAT(calls, Not(Contains(Key(dear)))) << joined(tool);
  }
}

class QuickToolsWithMig : public QuickTools {
 protected:
  QuickToolsWithMig() { machine_ = "h100x8,driver=535.261.03,mig=3g.40gb"; }
};

// Before the fix, all profiles of each GPU were read: eight times ten calls of 0.5 to 0.9 ms.
TEST_F(QuickToolsWithMig, AskForTheProfilesThatExistOnceForAModel) {
  const auto calls = calls_of({"gfd", "labels", "--mig-strategy", "mixed"});
  unsigned asked = 0;
  for (const auto& [function, count] : calls)
    if (function.starts_with("nvmlDeviceGetGpuInstanceProfileInfo")) asked += count;
  EXPECT_GE(asked, 1U);
  EXPECT_LE(asked, 8U);
  EXPECT_THAT(calls, Contains(::testing::Pair("nvmlDeviceGetMaxMigDeviceCount", 8U)));
}

}  // namespace
}  // namespace slipway
