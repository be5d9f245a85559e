// SPDX-License-Identifier: Apache-2.0
// Every row of the default counters compared with the simulated machine: its state is read where the simulated NVML
// reads it.
#include <cstring>
#include <memory>

#include "sim/state/machine.hpp"
#include "tests/component/dcgm/dcgm_node.hpp"

namespace slipway {
namespace {

using slipway::testing::DcgmNode;
using slipway::testing::Page;
using slipway::testing::RunningService;

struct Range {
  double low = 0;
  double high = 0;
};

class GroundTruth : public DcgmNode {
 protected:
  std::string file() const { return host_.path("run/slipway/sim/machine").string(); }
  std::unique_ptr<sim::Machine> machine() const {
    auto machine = std::make_unique<sim::Machine>();
    std::ifstream(file(), std::ios::binary).read(reinterpret_cast<char*>(machine.get()), sizeof(sim::Machine));
    return machine;
  }
  /// Changes members of GPU 1 in place.
  void set(std::uint32_t sim::Gpu::*member, std::uint32_t value) const {
    const auto now = machine();
    const auto at = reinterpret_cast<const char*>(&(now->gpus[1].*member)) - reinterpret_cast<const char*>(now.get());
    std::fstream out(file(), std::ios::binary | std::ios::in | std::ios::out);
    out.seekp(at).write(reinterpret_cast<const char*>(&value), sizeof value);
  }
  /// The load varies by four percent within ten seconds.
  static Range loaded(double idle, double full) { return {idle + (full - idle) * 0.95, full}; }
};

TEST_F(GroundTruth, IsInEveryRowOfTheDefaultCounters) {
  machine_ = "h100x2,driver=550.90.07";
  RunningService service(host_, service_words());
  ASSERT_TRUE(service.hears("READY=1")) << service.log();
  sim("gpu 1 load 100");
  sim("gpu 1 memory 5000");
  sim("gpu 1 xid 31");
  set(&sim::Gpu::remapped_corrected, 3);
  set(&sim::Gpu::remapped_uncorrected, 2);
  set(&sim::Gpu::remap_failed, 1);
  const auto state = machine();
  const sim::Gpu& gpu = state->gpus[1];
  const sim::Model& model = gpu.model;
  const double hottest = model.temperature_slowdown - 15.0;
  const Range heat = loaded(model.temperature_idle, hottest);
  const double memory = static_cast<double>(model.memory_mib);
  const double reserved = static_cast<double>(model.reserved_mib);
  const double link_rate = 2.0 * model.links * model.link_mbytes_per_s / 1.024;  // thousands of KiB, both directions
  const std::map<std::string, Range> rows{
      {"DCGM_FI_DEV_SM_CLOCK", {double(model.clock_max[1]), double(model.clock_max[1])}},
      {"DCGM_FI_DEV_MEM_CLOCK", {double(model.clock_max[2]), double(model.clock_max[2])}},
      {"DCGM_FI_DEV_MEMORY_TEMP", {heat.low + 7, heat.high + 8}},
      {"DCGM_FI_DEV_GPU_TEMP", {heat.low - 1, heat.high}},
      {"DCGM_FI_DEV_POWER_USAGE", loaded(model.power_idle_mw / 1000.0, model.power_default_mw / 1000.0)},
      {"DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION", {1, 1e12}},
      {"DCGM_FI_DEV_PCIE_REPLAY_COUNTER", {0, 0}},
      {"DCGM_FI_DEV_GPU_UTIL", {96, 100}},
      {"DCGM_FI_DEV_MEM_COPY_UTIL", {48, 50}},
      {"DCGM_FI_DEV_ENC_UTIL", {0, 0}},
      {"DCGM_FI_DEV_DEC_UTIL", {0, 0}},
      {"DCGM_FI_DEV_XID_ERRORS", {31, 31}},
      {"DCGM_FI_DEV_FB_FREE", {memory - reserved - 5000, memory - reserved - 5000}},
      {"DCGM_FI_DEV_FB_USED", {5000, 5000}},
      {"DCGM_FI_DEV_FB_RESERVED", {reserved, reserved}},
      {"DCGM_FI_DEV_NVLINK_BANDWIDTH_TOTAL", {0, link_rate * 20}},  // the simulated counter changes once a second
      {"DCGM_FI_DEV_VGPU_LICENSE_STATUS", {0, 0}},
      {"DCGM_FI_DEV_UNCORRECTABLE_REMAPPED_ROWS", {2, 2}},
      {"DCGM_FI_DEV_CORRECTABLE_REMAPPED_ROWS", {3, 3}},
      {"DCGM_FI_DEV_ROW_REMAP_FAILURE", {1, 1}},
      {"DCGM_FI_PROF_GR_ENGINE_ACTIVE", {0.955, 1}},
      {"DCGM_FI_PROF_PIPE_TENSOR_ACTIVE", {0.475, 0.5}},
      {"DCGM_FI_PROF_DRAM_ACTIVE", {0.475, 0.5}},
      {"DCGM_FI_PROF_PCIE_TX_BYTES", {955 * 1048576.0, 1000 * 1048576.0}},
      {"DCGM_FI_PROF_PCIE_RX_BYTES", {955 * 1048576.0, 1000 * 1048576.0}}};
  Page page;
  std::string wrong;
  EXPECT_TRUE(page_gets([&](const Page& now) {
    page = now;
    wrong.clear();
    for (const auto& [name, range] : rows) {
      const std::string value = now.value(name, "gpu=\"1\"");
      if (value.empty() || std::stod(value) < range.low || std::stod(value) > range.high)
        wrong +=
            name + " is " + value + ", not " + std::to_string(range.low) + " to " + std::to_string(range.high) + "\n";
    }
    return wrong.empty();
  })) << wrong;
  for (const std::string& line : lines_of(page.text))
    if (line.starts_with("# TYPE DCGM_")) {
      EXPECT_TRUE(rows.contains(line.substr(7, line.rfind(' ') - 7))) << line << ": nothing is expected of it";
    }
  EXPECT_NE(page.text.find("DCGM_FI_DRIVER_VERSION=\"" + std::string(state->driver_version) + "\""), std::string::npos);
  EXPECT_NE(page.text.find("UUID=\"" + std::string(gpu.uuid) + "\""), std::string::npos);
}

TEST_F(GroundTruth, ReportsAnEnergyThatOnlyGrows) {
  machine_ = "h100x2,driver=550.90.07";
  RunningService service(host_, service_words());
  ASSERT_TRUE(service.hears("READY=1")) << service.log();
  const double before = std::stod(scrape().value("DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION", "gpu=\"0\""));
  EXPECT_TRUE(page_gets([&](const Page& page) {
    return std::stod(page.value("DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION", "gpu=\"0\"")) > before;
  }));
}

}  // namespace
}  // namespace slipway
