// SPDX-License-Identifier: Apache-2.0
#include "sim/state/mig_rules.hpp"

#include <algorithm>
#include <random>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "nvidia/nvml/abi/base.h"
#include "nvidia/nvml/mig.hpp"
#include "sim/model/model.hpp"

namespace slipway::sim {
namespace {

using ::testing::ElementsAre;

Gpu gpu_of(const std::string& model) {
  Gpu gpu{};
  const auto read = sim::find_sim_model(model, {SIM_PROFILES});
  EXPECT_TRUE(read.ok()) << to_text(read.error());
  if (read) gpu.model = *read;
  gpu.mig_current = 1;
  return gpu;
}

unsigned profile_of(const Gpu& gpu, const std::string& name) {
  for (unsigned i = 0; i < gpu.model.mig.profile_count; ++i)
    if (gpu.model.mig.profiles[i].name == name) return i;
  ADD_FAILURE() << "no profile " << name;
  return 0;
}

/// Returns the starts that the driver chooses for this number of a profile; -1 where there is no room.
std::vector<int> starts(Gpu& gpu, const std::string& name, int count) {
  std::vector<int> all;
  for (int i = 0; i < count; ++i) {
    int code = 0;
    const GpuInstance* made = create_instance(gpu, profile_of(gpu, name), -1, false, &code);
    all.push_back(made == nullptr ? -1 : static_cast<int>(made->start));
  }
  return all;
}

// The next four were recorded on A100 machines.
TEST(MigRules, FillAnA100WithOneSliceInstancesAsTheDriverDoes) {
  Gpu gpu = gpu_of("NVIDIA A100-SXM4-40GB");
  EXPECT_THAT(starts(gpu, "1g.5gb", 8), ElementsAre(6, 4, 5, 0, 1, 2, 3, -1));
}

TEST(MigRules, PutTheFirstTwoSliceInstanceAtFourAndOneSliceOnesAround) {
  Gpu gpu = gpu_of("NVIDIA A100-SXM4-40GB");
  EXPECT_THAT(starts(gpu, "2g.10gb", 1), ElementsAre(4));
  EXPECT_THAT(starts(gpu, "1g.5gb", 5), ElementsAre(6, 0, 1, 2, 3));
}

TEST(MigRules, PutThreeSlicesAtFourFirst) {
  Gpu gpu = gpu_of("NVIDIA A100-SXM4-40GB");
  EXPECT_THAT(starts(gpu, "3g.20gb", 3), ElementsAre(4, 0, -1));
}

TEST(MigRules, HaveNoRoomForThreeSlicesAfterOneOneTwo) {
  Gpu gpu = gpu_of("NVIDIA A100-SXM4-40GB");
  starts(gpu, "1g.5gb", 2);
  starts(gpu, "2g.10gb", 1);
  EXPECT_THAT(starts(gpu, "3g.20gb", 1), ElementsAre(-1));
}

TEST(MigRules, MakeTheBalancedLayoutOfEverySevenSliceGpu) {
  for (const auto& [model, one, two, three] :
       std::vector<std::array<std::string, 4>>{{"NVIDIA H100 80GB HBM3", "1g.10gb", "2g.20gb", "3g.40gb"},
                                               {"NVIDIA H200", "1g.18gb", "2g.35gb", "3g.71gb"},
                                               {"NVIDIA B200", "1g.23gb", "2g.45gb", "3g.90gb"},
                                               {"NVIDIA GB200", "1g.23gb", "2g.47gb", "3g.93gb"}}) {
    Gpu gpu = gpu_of(model);
    EXPECT_THAT(starts(gpu, three, 1), ElementsAre(4)) << model;
    EXPECT_THAT(starts(gpu, two, 1), ElementsAre(::testing::Ge(0))) << model;
    EXPECT_THAT(starts(gpu, one, 2), ElementsAre(::testing::Ge(0), ::testing::Ge(0))) << model;
  }
}

TEST(MigRules, GiveIdsByWhereAnInstanceLies) {
  const Gpu a100 = gpu_of("NVIDIA A100-SXM4-40GB");
  EXPECT_EQ(instance_id(a100.model.mig, 0, 8), 0U);
  EXPECT_EQ(instance_id(a100.model.mig, 4, 4), 2U);
  EXPECT_EQ(instance_id(a100.model.mig, 2, 2), 4U);
  EXPECT_EQ(instance_id(a100.model.mig, 6, 1), 13U);
  const Gpu a30 = gpu_of("NVIDIA A30");
  EXPECT_EQ(instance_id(a30.model.mig, 0, 1), 3U);  // recorded
  const Gpu pro = gpu_of("NVIDIA RTX PRO 6000 Blackwell Server Edition");
  EXPECT_EQ(instance_id(pro.model.mig, 9, 3), 6U);
}

TEST(MigRules, NumberCapabilitiesAsTheKernelModuleDoes) {
  EXPECT_EQ(capability_minor(0, 0), 3U);
  EXPECT_EQ(capability_minor(31, 14, 7), 4322U);  // the last one
}

TEST(MigRules, HaveOneOwnerOfTheMediaEngines) {
  Gpu gpu = gpu_of("NVIDIA H100 80GB HBM3");
  EXPECT_THAT(starts(gpu, "1g.10gb+me", 2), ElementsAre(::testing::Ge(0), -1));
  Gpu pro = gpu_of("NVIDIA RTX PRO 6000 Blackwell Server Edition");
  starts(pro, "1g.24gb+me.all", 1);
  EXPECT_THAT(starts(pro, "1g.24gb", 1), ElementsAre(-1));
  EXPECT_THAT(starts(pro, "1g.24gb-me", 4), ElementsAre(::testing::Ge(0), ::testing::Ge(0), ::testing::Ge(0), -1));
}

TEST(MigRules, PackComputeInstancesAndRefuseASecondOfThreeSlices) {
  Gpu gpu = gpu_of("NVIDIA A100-SXM4-40GB");
  int code = 0;
  GpuInstance* three = create_instance(gpu, profile_of(gpu, "3g.20gb"), -1, false, &code);
  ASSERT_NE(three, nullptr);
  for (unsigned id = 0; id < 3; ++id) {
    const ComputeInstance* made = create_compute(gpu, *three, 0, -1, &code);
    ASSERT_NE(made, nullptr);
    EXPECT_EQ(made->id, id);
  }
  EXPECT_EQ(create_compute(gpu, *three, 0, -1, &code), nullptr);
  EXPECT_EQ(code, NVML_ERROR_INSUFFICIENT_RESOURCES);
}

// A property: whatever is created and destroyed, nothing overlaps and the slices never exceed the GPU's.
TEST(MigRules, NeverOverlapForAnySequence) {
  std::mt19937 random(20);
  for (const char* model : {"NVIDIA A100-SXM4-80GB", "NVIDIA A30", "NVIDIA RTX PRO 6000 Blackwell Server Edition"}) {
    Gpu gpu = gpu_of(model);
    for (int step = 0; step < 500; ++step) {
      int code = 0;
      if (random() % 3 == 0)
        gpu.instances[random() % kMaxInstances] = GpuInstance{};
      else
        create_instance(gpu, static_cast<unsigned>(random()) % gpu.model.mig.profile_count, -1, random() % 2 == 0,
                        &code);
      std::uint32_t slices = 0;
      for (const GpuInstance& one : gpu.instances) {
        if (one.used == 0) continue;
        slices += gpu.model.mig.profiles[one.profile].slices;
        for (const GpuInstance& other : gpu.instances)
          if (&one != &other && other.used != 0) {
            EXPECT_TRUE(one.start + one.size <= other.start || other.start + other.size <= one.start);
            EXPECT_NE(one.id, other.id);
          }
      }
      EXPECT_LE(slices, gpu.model.mig.compute_slices);
    }
  }
}

// The names in the model files are those that NVIDIA's formula gives for the sizes beside them.
TEST(SimModels, NameTheirMigProfilesByTheMemory) {
  unsigned checked = 0;
  for (const auto& entry : std::filesystem::directory_iterator(SIM_MODELS)) {
    const auto model = sim::read_sim_model(entry.path().string());
    ASSERT_TRUE(model.ok()) << to_text(model.error());
    for (unsigned i = 0; i < model->mig.profile_count; ++i) {
      const MigProfile& profile = model->mig.profiles[i];
      const std::string name = profile.name;
      const std::string front = std::to_string(profile.slices) + "g." +
                                nvidia::nvml::memory_part(profile.memory_mib, model->memory_mib << 20U);
      EXPECT_EQ(name.substr(0, name.find_first_of("+-")), front) << entry.path();
      ++checked;
    }
  }
  EXPECT_GE(checked, 45U);
}

}  // namespace
}  // namespace slipway::sim
