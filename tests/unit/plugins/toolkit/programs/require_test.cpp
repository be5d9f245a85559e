// SPDX-License-Identifier: Apache-2.0
// The requirements of images (NVIDIA_REQUIRE_*), and the data about the machine without NVML.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <slipway/testing/temp_dir.hpp>

#include "nvidia/gpu.hpp"
#include "toolkit/requests/require/cuda_support.hpp"
#include "toolkit/requests/require/machine.hpp"

namespace slipway::shim {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

const GpuFacts kH100{.name = "the GPU /dev/nvidia0 (0000:65:00.0)",
                     .driver = "535.104.05",
                     .cuda = "12.2",
                     .arch = "9.0",
                     .brands = {"nvidia", "tesla"}};

/// Returns "met", "unknown", or the problem.
std::string check(const std::string& expression, const GpuFacts& gpu = kH100) {
  const auto checked = check_requirement({"NVIDIA_REQUIRE_CUDA", expression}, gpu);
  if (!checked) return checked.error().what;
  return checked->empty() ? "met" : "unknown";
}

std::vector<std::string> expressions(const std::map<std::string, std::string>& environment) {
  const auto requirements = requirements_of(environment);
  if (!requirements) return {requirements.error().what};
  std::vector<std::string> all;
  for (const Requirement& each : *requirements) all.push_back(each.variable + ": " + each.expression);
  return all;
}

TEST(Requirement, ComparesVersionsByTheirNumbers) {
  for (const char* met : {"cuda>=12.2", "cuda>=11", "cuda<=12.2.0", "cuda=12.2", "cuda!=12.1", "cuda>12", "cuda<12.10",
                          "driver>=535", "driver>=535.54.03", "arch>=7.5", "CUDA>=12.2"})
    EXPECT_EQ(check(met), "met") << met;
  for (const char* failed :
       {"cuda>=12.3", "cuda>12.2", "cuda<12.2", "cuda!=12.2", "cuda=12", "driver>=535.104.12", "driver<535", "arch<9"})
    EXPECT_THAT(check(failed), HasSubstr(std::string("requires ") + failed)) << failed;
}

TEST(Requirement, HoldsWhenAllConditionsOfOneAlternativeDo) {
  EXPECT_EQ(check("cuda>=12.4 driver>=535,driver<536"), "met");
  EXPECT_THAT(check("cuda>=12.4 driver>=535,driver<535.50"), HasSubstr("cuda>=12.4"));
  EXPECT_EQ(check("  cuda>=12.0,,arch>=8.0  "), "met");
  EXPECT_EQ(check(""), "met");
}

// The variable of an official image, shortened.
TEST(Requirement, NamesTheConditionThatFailsAndWhatTheGpuHas) {
  EXPECT_EQ(check("cuda>=12.4 brand=geforce,driver>=470,driver<471 brand=quadro,driver>=470,driver<471"),
            "the container requires cuda>=12.4 (NVIDIA_REQUIRE_CUDA), and the GPU /dev/nvidia0 (0000:65:00.0) has CUDA "
            "12.2 with driver 535.104.05; none of its 2 other alternatives is met either");
  EXPECT_THAT(check("brand=geforce"), HasSubstr("is of the brand nvidia, tesla"));
  EXPECT_THAT(check("arch>=10"), HasSubstr("has the compute capability 9.0"));
}

TEST(Requirement, WithUnknownFactsDoesNotFail) {
  EXPECT_EQ(check("brand=tesla"), "unknown") << "the brand of this product changed with the driver";
  EXPECT_EQ(check("cuda>=13.0", {.name = "the machine", .driver = "999.1", .cuda = "", .arch = "", .brands = {}}),
            "unknown");
  EXPECT_THAT(check("brand=tesla,driver>=600"), HasSubstr("driver>=600")) << "that alternative cannot hold";
  EXPECT_EQ(check("brand=tesla cuda>=12.0"), "met");
}

TEST(Requirement, SkipsUnknownProperties) {
  EXPECT_EQ(check("jetpack>=5"), "met");
  EXPECT_EQ(check("jetpack>=5,cuda>=12.0"), "met");
  EXPECT_THAT(check("cuda>=13 jetpack>=5"), HasSubstr("cuda>=13")) << "an alternative of nothing is none";
}

TEST(Requirement, ThatIsInvalidIsQuoted) {
  for (const char* wrong :
       {"cuda", ">=12", "cuda==12", "cuda>=", "cuda=>12", "cuda>=12.x", "cuda>=1..2", "brand>tesla",
        "cuda>=1.2.3.4.5.6.7.8.9", "cuda>=99999999999999999999", "brand=", "cuda>=-1", "cuda>=\t12"})
    EXPECT_THAT(check(wrong), HasSubstr("NVIDIA_REQUIRE_CUDA is not a requirement: ")) << wrong;
}

TEST(Requirement, IsBounded) {
  EXPECT_THAT(check(std::string(kLongestRequirement + 1, ' ')), HasSubstr("more than 16384 bytes"));
  std::string many;
  for (std::size_t i = 0; i <= kMostConditions; ++i) many += "a=1,";
  EXPECT_THAT(check(many), HasSubstr("more than 1024 conditions"));
  std::map<std::string, std::string> variables;
  for (std::size_t i = 0; i <= kMostRequirements; ++i) variables["NVIDIA_REQUIRE_" + std::to_string(i)] = "cuda>=9";
  EXPECT_THAT(expressions(variables), ElementsAre(HasSubstr("more than 64 variables")));
}

TEST(Requirement, IsReadFromTheContainersVariables) {
  EXPECT_THAT(expressions({{"NVIDIA_REQUIRE_CUDA", "cuda>=12"},
                           {"NVIDIA_REQUIRE_DRIVER", "driver>=525"},
                           {"NVIDIA_REQUIRE_JETPACK_HOST_MOUNTS", "x"},
                           {"NVIDIA_REQUIRE_EMPTY", " "},
                           {"CUDA_VERSION", "11.0"}}),
              ElementsAre("NVIDIA_REQUIRE_CUDA: cuda>=12", "NVIDIA_REQUIRE_DRIVER: driver>=525"));
  EXPECT_THAT(expressions({{"NVIDIA_REQUIRE_CUDA", "cuda>=12"}, {"NVIDIA_DISABLE_REQUIRE", "true"}}), IsEmpty());
  EXPECT_THAT(expressions({{"NVIDIA_REQUIRE_CUDA", "cuda>=12"}, {"NVIDIA_DISABLE_REQUIRE", "no"}}),
              ElementsAre("NVIDIA_REQUIRE_CUDA: cuda>=12"));
}

TEST(Requirement, OfAnImageBeforeCuda9IsItsCudaVersion) {
  EXPECT_THAT(expressions({{"CUDA_VERSION", "8.0.61"}}), ElementsAre("CUDA_VERSION: cuda>=8.0"));
  EXPECT_THAT(expressions({{"CUDA_VERSION", "8"}, {"NVIDIA_REQUIRE_CUDA", ""}}), ElementsAre("CUDA_VERSION: cuda>=8"));
  EXPECT_THAT(expressions({{"CUDA_VERSION", "cu121"}}), IsEmpty());
  EXPECT_THAT(expressions({{"CUDA_VERSION", "8.0"}, {"NVIDIA_DISABLE_REQUIRE", "1"}}), IsEmpty());
}

nvidia::cdi::Edits edits_with(const std::vector<std::string>& nodes) {
  nvidia::cdi::Edits edits;
  for (const std::string& path : nodes) {
    nvidia::cdi::DeviceNode node;
    node.path = path;
    edits.device_nodes.push_back(node);
  }
  return edits;
}

/// A machine with one H100 and driver 535.
void put_machine(testing::TempDir& root) {
  root.file("proc/driver/nvidia/version",
            "NVRM version: NVIDIA UNIX x86_64 Kernel Module  535.104.05  Sat Aug 19 01:15:15 UTC 2023\n");
  root.file("proc/driver/nvidia/gpus/0000:65:00.0/information",
            "Model: \t\t NVIDIA H100 80GB HBM3\nIRQ:   \t\t 16\nDevice Minor: \t 3\n");
  root.file("sys/bus/pci/devices/0000:65:00.0/device", "0x2330\n");
}

TEST(MachineFacts, AreThoseOfTheGpusWhoseNodesTheContainerGets) {
  testing::TempDir root;
  put_machine(root);
  const auto gpus = read_gpus(edits_with({"/dev/nvidiactl", "/dev/nvidia3", "/dev/nvidia-uvm"}), root.path());
  ASSERT_EQ(gpus.size(), 1U);
  EXPECT_EQ(gpus[0].name, "the GPU /dev/nvidia3 (0000:65:00.0)");
  EXPECT_EQ(gpus[0].driver + " " + gpus[0].cuda + " " + gpus[0].arch, "535.104.05 12.2 9.0");
  EXPECT_THAT(gpus[0].brands, ElementsAre("nvidia", "tesla"));
  const auto none = read_gpus(edits_with({"/dev/nvidiactl"}), root.path());
  ASSERT_EQ(none.size(), 1U);
  EXPECT_EQ(none[0].name + none[0].arch, "the machine");
}

TEST(MachineFacts, HaveTheCudaVersionThatTheSpecSays) {
  testing::TempDir root;
  put_machine(root);
  auto edits = edits_with({"/dev/nvidia3"});
  edits.hooks.push_back({"createContainer", "/h", {"h", "enable-cuda-compat", "--host-cuda-version=12.9"}, {}, {}});
  EXPECT_EQ(read_gpus(edits, root.path()).front().cuda, "12.9");
}

TEST(MachineFacts, OfAMachineWithoutADriverAreUnknown) {
  testing::TempDir root;
  const auto gpus = read_gpus(edits_with({"/dev/nvidia0"}), root.path());
  ASSERT_EQ(gpus.size(), 1U);
  EXPECT_EQ(gpus[0].driver + gpus[0].cuda + gpus[0].arch, "");
  EXPECT_EQ(check("cuda>=99", gpus[0]), "unknown");
}

TEST(MachineFacts, OfProductsAreTheirBrandsAndArchitectures) {
  using shim::brands_of;
  using shim::cuda_of_driver;
  const auto arch_of = [](std::uint16_t id) { return nvidia::compute_capability_of(id); };
  EXPECT_THAT(brands_of("Tesla V100-SXM2-32GB"), ElementsAre("tesla"));
  EXPECT_THAT(brands_of("NVIDIA GeForce RTX 4090"), ElementsAre("geforce", "geforcertx"));
  EXPECT_THAT(brands_of("NVIDIA A10"), ElementsAre("nvidia", "tesla"));
  EXPECT_THAT(brands_of("GRID A100-10C"), IsEmpty());
  EXPECT_EQ(arch_of(0x20b0) + " " + arch_of(0x2684) + " " + arch_of(0x2901) + " " + arch_of(0x2b85),
            "8.0 8.9 10.0 12.0");
  EXPECT_EQ(arch_of(0xfff0), "");
  EXPECT_EQ(cuda_of_driver("570.86.15") + " " + cuda_of_driver("9999.1"), "12.8 ");
}

Request wanting(const std::string& expression) {
  Request request;
  request.requirements = {{"NVIDIA_REQUIRE_CUDA", expression}};
  return request;
}

TEST(Requirements, AreCheckedForEachGpuUnlessTheSettingsSayOtherwise) {
  testing::TempDir root;
  put_machine(root);
  const auto edits = edits_with({"/dev/nvidia3"});
  Config config;
  const auto refused = check_requirements(wanting("cuda>=13.1"), edits, config, root.path(), "config.json");
  ASSERT_FALSE(refused);
  EXPECT_THAT(to_text(refused.error()),
              HasSubstr("requires cuda>=13.1 (NVIDIA_REQUIRE_CUDA), and the GPU /dev/nvidia3"));
  EXPECT_THAT(to_text(refused.error()), HasSubstr("NVIDIA_DISABLE_REQUIRE=true"));
  EXPECT_EQ(refused.error().where, "config.json");
  EXPECT_TRUE(check_requirements(wanting("cuda>=12.0"), edits, config, root.path(), "config.json"));
  // Before the fix, each GPU took a third of a second, but an engine abandons an NRI plugin after two.
  Request monstrous;
  for (std::size_t i = 0; i < kMostRequirements; ++i)
    monstrous.requirements.push_back({"NVIDIA_REQUIRE_CUDA", "cuda>=" + std::string(kLongestRequirement / 32, '1')});
  EXPECT_THAT(to_text(check_requirements(monstrous, edits, config, root.path(), "config.json").error()),
              HasSubstr("more than 16384 bytes together"));
  config.disable_require = true;
  EXPECT_TRUE(check_requirements(wanting("cuda>=13.1"), edits, config, root.path(), "config.json"));
}

}  // namespace
}  // namespace slipway::shim
