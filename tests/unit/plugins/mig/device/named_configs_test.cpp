// SPDX-License-Identifier: Apache-2.0
// Changes from every named config to every other, made on simulated GPUs: an instance that could stay is the same after
// it.
#include "mig/config/named_configs.hpp"

#include <fstream>
#include <memory>
#include <random>
#include <set>

#include <gtest/gtest.h>

#include <slipway/testing/fake_host.hpp>

#include "mig/device/change.hpp"
#include "mig/device/read.hpp"
#include "mig/layout/intent.hpp"
#include "sim/state/machine.hpp"
#include "tests/unit/plugins/mig/every_arrangement.hpp"
#include "tests/unit/sim/sim_fixture.hpp"

namespace slipway::mig {
namespace {

/// Returns the GPU instances of a GPU, each by the number of its creation.
using Created = std::set<unsigned>;

/// A server of sixteen GPUs: two of each product that NVIDIA partitions, and two without MIG.
std::string sixteen_of_eight_models() {
  struct {
    const char* model;
    const char* device;
  } const models[] = {{"NVIDIA A30", "0x20b7"},
                      {"NVIDIA A100-SXM4-40GB", "0x20b0"},
                      {"NVIDIA A100-SXM4-80GB", "0x20b2"},
                      {"NVIDIA H100 80GB HBM3", "0x2330"},
                      {"NVIDIA H200", "0x2335"},
                      {"NVIDIA B200", "0x2901"},
                      {"NVIDIA RTX PRO 6000 Blackwell Server Edition", "0x2bb5"},
                      {"NVIDIA L4", "0x27b8"}};
  std::string text =
      "apiVersion: slipway.dev/sim/v1\nname: mixed16\nabout: for a test\n"
      "machine: {arch: x86_64, kernel: 6.1.0-50-amd64}\npci:\n";
  unsigned bus = 16;
  for (const char* half : {"first", "second"}) {
    (void)half;
    for (const auto& each : models)
      text += std::string("  - {role: gpu, model: ") + each.model + ", vendor: \"0x10de\", device: \"" + each.device +
              "\", subsystem_vendor: \"0x10de\", subsystem_device: \"0x1532\", class: \"0x030200\", at: "
              "[{address: \"0000:" +
              std::to_string(bus++) + ":00.0\", numa_node: 0}]}\n";
  }
  return text;
}

class MigOnSimulatedGpus : public sim::SimTest {
 protected:
  std::vector<Created> created() const {
    const auto machine = std::make_unique<sim::Machine>();
    std::ifstream((folder_.path() / "machine").string(), std::ios::binary)
        .read(reinterpret_cast<char*>(machine.get()), sizeof(sim::Machine));
    std::vector<Created> all(machine->gpu_count);
    for (unsigned gpu = 0; gpu < machine->gpu_count; ++gpu)
      for (const sim::GpuInstance& each : machine->gpus[gpu].instances)
        if (each.used != 0) all[gpu].insert(each.serial);
    return all;
  }

  std::vector<Gpu> gpus() {
    auto read = read_gpus(*nvml_);
    EXPECT_TRUE(read.ok()) << to_text(read.error());
    return read.value_or({});
  }

  /// Makes the change and compares the result with the expected one.
  void change(const Entries& entries, const std::string& what) {
    const std::vector<Gpu> before = gpus();
    const std::vector<Created> had = created();
    const auto intents = intents_of(entries, before);
    ASSERT_TRUE(intents.ok()) << what << ": " << to_text(intents.error());
    std::vector<Target> targets;
    for (const Intent& each : intents->gpus)
      if (!each.holds()) targets.push_back(each.target);
    const auto open = open_gpus(*nvml_, targets);
    ASSERT_TRUE(open.ok()) << what << ": " << to_text(open.error());
    std::vector<Wanted> wanted;
    for (std::size_t i = 0; i < targets.size(); ++i)
      wanted.push_back({.target = targets[i], .known = (*open)[i].gpu, .device = (*open)[i].device});
    const auto outcomes = change_gpus(*nvml_, host_, wanted, {});
    ASSERT_TRUE(outcomes.ok()) << what << ": " << to_text(outcomes.error());
    for (const Outcome& each : *outcomes) EXPECT_EQ(each.kind, Outcome::Kind::done) << what << ": " << each.reason;

    const std::vector<Gpu> after = gpus();
    const std::vector<Created> has = created();
    ASSERT_EQ(after.size(), before.size());
    for (std::size_t i = 0; i < after.size(); ++i) {
      const std::string which = what + ", " + before[i].text() + " " + before[i].name;
      const Entry* const entry = entry_for(entries, before[i]);
      if (entry == nullptr || !before[i].capable) {
        EXPECT_EQ(after[i], before[i]) << which;
        EXPECT_EQ(has[i], had[i]) << which << ": no entry takes it";
        continue;
      }
      EXPECT_EQ(layout_of(after[i]), entry->layout) << which;
      EXPECT_EQ(after[i].pending, entry->layout.enabled) << which;
      EXPECT_EQ(gone(had[i], has[i]), fewest(before[i], entry->layout)) << which;
      ++checked_;
    }
  }

  unsigned checked_ = 0;

 private:
  static const Entry* entry_for(const Entries& entries, const Gpu& gpu) {
    const Entry* last = nullptr;
    for (const Entry& each : entries)
      if (each.takes(gpu.index, gpu.id)) last = &each;
    return last;
  }
  static std::size_t gone(const Created& had, const Created& has) {
    return static_cast<std::size_t>(
        std::ranges::count_if(had, [&has](unsigned serial) { return !has.contains(serial); }));
  }
  static std::size_t fewest(const Gpu& now, const Layout& wanted) {
    return wanted.enabled ? testing::EveryArrangement(now, wanted.devices).fewest_destroyed() : now.instances.size();
  }

  slipway::testing::FakeHost host_;
};

TEST_F(MigOnSimulatedGpus, GoFromEveryNamedConfigToEveryOther) {
  for (const char* product : {"a30x1", "a100-40x1", "a100-80x1", "h100x1", "h200x1", "b200x1", "rtx-pro-6000x1"}) {
    make(product);
    const auto generated = generate_configs(gpus());
    ASSERT_TRUE(generated.ok()) << product;
    const auto& configs = generated->configs.by_name;
    for (auto one = configs.begin(); one != configs.end(); ++one) {
      change(one->second, std::string(product) + ", to " + one->first);
      for (auto other = std::next(one); other != configs.end() && !HasFatalFailure(); ++other) {
        change(other->second, std::string(product) + ", " + one->first + " -> " + other->first);
        change(one->second, std::string(product) + ", " + other->first + " -> " + one->first);
      }
    }
  }
  EXPECT_GT(checked_, 600U);
}

// Sixteen GPUs of eight models, one of which has no MIG; each gets one of the named configs of its model, or is left
// unchanged.
TEST_F(MigOnSimulatedGpus, OfManyModelsEachGetItsOwn) {
  folder_.file("mixed16.yaml", sixteen_of_eight_models());
  make((folder_.path() / "mixed16.yaml").string());
  std::mt19937 random(1619);  // NOLINT(cert-msc51-cpp): the same samples each time
  std::vector<std::vector<Layout>> layouts;
  const std::vector<Gpu> all = gpus();
  ASSERT_EQ(all.size(), 16U);
  for (const Gpu& gpu : all) {
    layouts.emplace_back();
    if (!gpu.capable) continue;
    const auto generated = generate_configs({gpu});
    ASSERT_TRUE(generated.ok()) << gpu.name;
    for (const auto& [name, entries] : generated->configs.by_name) layouts.back().push_back(entries.front().layout);
  }
  for (int sample = 0; sample < 60 && !HasFatalFailure(); ++sample) {
    Entries entries;
    for (unsigned i = 0; i < all.size(); ++i)
      if (!layouts[i].empty() && random() % 4 != 0)
        entries.push_back({.where = "sample",
                           .filter = {},
                           .devices = std::vector<unsigned>{i},
                           .layout = layouts[i][random() % layouts[i].size()]});
    change(entries, "sample " + std::to_string(sample));
  }
  EXPECT_GT(checked_, 500U);
}

}  // namespace
}  // namespace slipway::mig
