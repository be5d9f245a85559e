// SPDX-License-Identifier: Apache-2.0
// tests/unit/plugins/dcgm/overview_maker.hpp - an overview with everything in it that the page and the screen show.
#pragma once

#include "dcgm/page/overview.hpp"

namespace slipway::testing {

/// A possible name of a process, pod or machine.
inline constexpr const char* kHostile = "<script>alert('1')</script>\"\x1b[2J\x07&\xff\xe2\x80\xae";

inline dcgm::GpuOverview gpu_with_everything(unsigned index, const std::string& name) {
  dcgm::GpuDetails details;
  details.utilization = 42;
  details.temperature = 61;
  details.power = 340.4;
  details.power_limit = 700;
  details.clock = 1755;
  details.clock_most = 1980;
  details.memory_used = std::uint64_t{12} << 30U;
  details.memory_total = std::uint64_t{80} << 30U;
  details.processes = {{.pid = 4711, .name = name, .memory = std::uint64_t{11} << 30U, .instance = {}}};
  dcgm::GpuOverview gpu;
  gpu.gpu = {
      .index = index, .uuid = "GPU-" + std::to_string(index), .bus_id = "00000000:65:00.0", .model = "NVIDIA H100"};
  gpu.details = details;
  gpu.pods = {{.gpu = gpu.gpu.uuid, .instance = {}, .name_space = "team-a", .pod = name, .container = "main"}};
  gpu.line = std::vector<std::optional<unsigned>>(dcgm::History::kSteps, 40U);
  return gpu;
}

inline dcgm::GpuOverview gpu_with_instances(unsigned index, unsigned count) {
  dcgm::GpuOverview gpu = gpu_with_everything(index, "python3");
  gpu.details->utilization.reset();
  gpu.details->mig_enabled = true;
  gpu.details->slices = 8;
  for (unsigned i = 0; i < count; ++i)
    gpu.details->instances.push_back({.id = 7 + i,
                                      .profile = "1g.10gb",
                                      .start = i,
                                      .size = 1,
                                      .memory_used = std::uint64_t{1} << 30U,
                                      .memory_total = std::uint64_t{10} << 30U,
                                      .active = 50});
  return gpu;
}

inline dcgm::Overview overview_of(std::vector<dcgm::GpuOverview> gpus, const std::string& node = "node-1") {
  dcgm::Overview overview;
  overview.node = node;
  overview.driver_version = "550.90.07";
  overview.slipway_version = "1.0";
  overview.interval = std::chrono::seconds(10);
  overview.time = dcgm::History::Time(std::chrono::seconds(1700000000));
  overview.gpus = std::move(gpus);
  return overview;
}

}  // namespace slipway::testing
