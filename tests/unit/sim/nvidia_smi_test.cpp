// SPDX-License-Identifier: Apache-2.0
// NVIDIA's own nvidia-smi (535.261.03, from Debian) over the simulated library: a program that was built for the real
// one.
#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <iterator>
#include <sstream>
#include <vector>

#include <gmock/gmock.h>

#include "tests/unit/plugins/nvidia/nvml/real_package.hpp"
#include "tests/unit/sim/sim_fixture.hpp"

namespace slipway::sim {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using ::testing::Not;

class NvidiaSmi : public SimTest {
 protected:
  void SetUp() override {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    GTEST_SKIP() << "a library with sanitizers does not go into a program without";
#endif
    const fs::path package = slipway::testing::real_package("nvidia-smi");
    if (package.empty()) GTEST_SKIP() << "no nvidia-smi package in the cache: tests/e2e/fetch-nvidia-programs.sh";
    ASSERT_EQ(std::system(("dpkg-deb -x '" + package.string() + "' '" + root_.string() + "'").c_str()), 0);
  }

  std::string smi(const std::string& words) {
    return output_of("LD_LIBRARY_PATH='" + fs::path(SIM_LIBRARY).parent_path().string() + "' '" + root_.string() +
                     "/usr/lib/nvidia/current/nvidia-smi' " + words + " 2>&1");
  }

  std::string output_of(const std::string& command) {
    std::string output;
    FILE* pipe = popen(command.c_str(), "r");
    std::array<char, 4096> part{};
    while (const std::size_t got = fread(part.data(), 1, part.size(), pipe)) output.append(part.data(), got);
    const int status = pclose(pipe);
    EXPECT_TRUE(WIFEXITED(status)) << output;
    status_ = WEXITSTATUS(status);
    return output;
  }
  int status_ = 0;
  slipway::testing::TempDir root_;
};

TEST_F(NvidiaSmi, ListsTheGpus) {
  make("h100x8,driver=535.261.03");
  const std::string list = smi("-L");
  EXPECT_EQ(status_, 0);
  EXPECT_THAT(list, HasSubstr("GPU 7: NVIDIA H100 80GB HBM3 (UUID: GPU-"));
}

TEST_F(NvidiaSmi, ListsMigDevicesByTheirProfiles) {
  make("h100x2,driver=535.261.03,mig=3g.40gb");
  EXPECT_THAT(smi("-L"), HasSubstr("MIG 3g.40gb     Device  1: (UUID: MIG-"));
  const std::string profiles = smi("mig -lgip");
  EXPECT_THAT(profiles, HasSubstr("MIG 1g.10gb+me"));
  EXPECT_THAT(profiles, HasSubstr("MIG 7g.80gb"));
  EXPECT_THAT(smi("mig -lgi"), HasSubstr("MIG 3g.40gb"));
}

TEST_F(NvidiaSmi, QueriesValuesThatMakeSense) {
  make("t4x4,driver=535.261.03");
  const std::string row =
      smi("--query-gpu=index,name,memory.total,pci.bus_id,driver_version,ecc.mode.current "
          "--format=csv,noheader -i 2");
  EXPECT_THAT(row, HasSubstr("2, Tesla T4, 15360 MiB, 00000000:00:1D.0, 535.261.03, Enabled"));
}

TEST_F(NvidiaSmi, HasAnAnswerToEachOfItsQueries) {
  make("h100x2,driver=535.261.03");
  std::istringstream help(smi("--help-query-gpu"));
  std::string fields;
  for (std::string line; std::getline(help, line);)
    if (line.starts_with('"') && line.find(' ') > line.find('"', 1))
      fields += (fields.empty() ? "" : ",") + line.substr(1, line.find('"', 1) - 1);
  ASSERT_GT(std::ranges::count(fields, ','), 100) << fields;
  for (const char* profile : {"h100x2,mig=1g.10gb", "t4x4", "v100x8", "gb200x4", "mixedx4"}) {
    make(std::string(profile) + ",driver=535.261.03");
    const std::string row = smi("--format=csv,noheader -i 0 --query-gpu=" + fields);
    EXPECT_EQ(status_, 0) << profile << row;
    EXPECT_EQ(std::ranges::count(row, ','), std::ranges::count(fields, ',')) << profile << row;
    for (const char* trouble : {"Unknown Error", "Function Not Found", "Invalid Argument", "Insufficient"})
      EXPECT_THAT(row, Not(HasSubstr(trouble))) << profile;
  }
}

TEST_F(NvidiaSmi, PrintsAllItKnowsInTextAndXml) {
  for (const char* profile : {"h100x8", "t4x4", "v100x8", "a30x2", "l4x1", "b200x8", "rtx-pro-6000x8", "gb200x4"}) {
    make(std::string(profile) + ",driver=535.261.03");
    const std::string all = smi("-q");
    EXPECT_EQ(status_, 0) << profile;
    EXPECT_THAT(all, HasSubstr("Driver Version                            : 535.261.03")) << profile;
    for (const char* trouble : {"Unknown Error", "Uninitialized", "Function Not Found", "Invalid Argument"})
      EXPECT_THAT(all, Not(HasSubstr(trouble))) << profile;
    const std::string xml = smi("-q -x");
    EXPECT_EQ(status_, 0) << profile;
    EXPECT_THAT(xml, HasSubstr("</nvidia_smi_log>")) << profile;
  }
}

TEST_F(NvidiaSmi, CreatesMigInstancesThatOthersSee) {
  if (geteuid() != 0) GTEST_SKIP() << "changing MIG needs root";
  make("a100-80x8,driver=535.261.03");
  EXPECT_THAT(smi("-i 0 -mig 1"), HasSubstr("Enabled MIG Mode for GPU 00000000:07:00.0"));
  EXPECT_THAT(smi("mig -i 0 -cgi 9,14 -C"), HasSubstr("Successfully created GPU instance ID"));
  EXPECT_EQ(status_, 0);
  EXPECT_THAT(smi("-L"), HasSubstr("MIG 2g.20gb"));
}

TEST_F(NvidiaSmi, DrawsTheTopology) {
  make("h100x8,driver=535.261.03");
  const std::string matrix = smi("topo -m");
  EXPECT_EQ(status_, 0);
  EXPECT_THAT(matrix, HasSubstr("NV18"));
}

/// Returns the columns of the matrix' line about a GPU.
std::vector<std::string> row_of(const std::string& matrix, const std::string& gpu) {
  std::istringstream lines(matrix);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::vector<std::string> row{std::istream_iterator<std::string>(words), {}};
    if (!row.empty() && row.front() == gpu) return row;
  }
  return {};
}

TEST_F(NvidiaSmi, DrawsTheMeshOfMachinesWithoutSwitches) {
  make("v100x8,driver=535.261.03");
  const std::string matrix = smi("topo -m");
  const auto row = row_of(matrix, "GPU5");
  ASSERT_GE(row.size(), 9U) << matrix;
  // For pairs without a link it calls the real library through a table of functions that is not public.
  const std::vector<std::string> linked{row[2], row[5], row[7], row[8]};
  EXPECT_THAT(linked, ::testing::ElementsAre("NV2", "NV1", "NV2", "NV1")) << matrix;
  make("v100x2,driver=535.261.03");
  EXPECT_THAT(smi("nvlink -s -i 0"), HasSubstr("Link 1: <inactive>"));
  make("l40sx4,driver=535.261.03");
  EXPECT_THAT(smi("topo -m"), Not(HasSubstr("NV1")));
}

// As in a container: the library and the state come from the driver's tree, and /dev decides which GPUs are visible.
TEST_F(NvidiaSmi, SeesJustTheGpusAndMigDevicesWhoseNodesItsDevHas) {
  if (std::system("unshare -m true 2> /dev/null") != 0) GTEST_SKIP() << "this user has no mounts of its own";
  ASSERT_EQ(tool("make h100x8,driver=535.261.03,visible=nodes,mig=3g.40gb"), 0);
  root_.directory("usr/lib/x86_64-linux-gnu");
  root_.directory("run/slipway/sim");
  fs::copy(SIM_LIBRARY, root_.at("usr/lib/x86_64-linux-gnu/libnvidia-ml.so.1"));
  fs::copy(folder_.at("machine"), root_.at("run/slipway/sim/machine"));
  unsetenv("SLIPWAY_SIM");
  root_.file("look",
             "mount --bind '" + root_.at("").string() +  // which may be below /dev: in /dev/shm
                 "' /mnt\nmount -t tmpfs none /dev\nmkdir /dev/nvidia-caps\nmknod /dev/null c 1 3\n"
                 "for node in nvidiactl nvidia2 nvidia5 nvidia-caps/nvidia-cap291 nvidia-caps/nvidia-cap292; do\n"
                 "  mknod /dev/$node c 1 3\ndone\n"  // GPU 2, GPU instance 2 and its compute instance 0
                 "LD_LIBRARY_PATH=/mnt/usr/lib/x86_64-linux-gnu exec /mnt/usr/lib/nvidia/current/nvidia-smi -L\n");
  const std::string list = output_of("unshare -m sh '" + root_.at("look").string() + "' 2>&1");
  EXPECT_THAT(list, HasSubstr("GPU 1: NVIDIA H100 80GB HBM3"));
  EXPECT_THAT(list, Not(HasSubstr("GPU 2:")));
  EXPECT_THAT(list, HasSubstr("MIG 3g.40gb     Device  0:"));
  EXPECT_THAT(list, Not(HasSubstr("Device  1:")));
}

TEST_F(NvidiaSmi, SaysThatALostGpuIsLost) {
  make("t4x4,driver=535.261.03");
  ASSERT_EQ(tool("gpu 1 lost"), 0);
  EXPECT_THAT(smi("-L"), HasSubstr("GPU is lost"));
}

}  // namespace
}  // namespace slipway::sim
