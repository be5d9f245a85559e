// SPDX-License-Identifier: Apache-2.0
#include <filesystem>

#include <fmt/format.h>

#include <slipway/regular_file.hpp>

#include "sim/state/mig_rules.hpp"
#include "sim/view/driver.hpp"
#include "sim/view/tree.hpp"

namespace slipway::sim {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kLongest = 16384;
constexpr std::uint32_t kNoInstance = 0xFFFFFFFF;

std::string node_of(const sim::Machine& machine, const sim::Process& process) {
  const unsigned minor = machine.gpus[process.gpu].minor;
  if (process.gpu_instance == kNoInstance) return fmt::format("/dev/nvidia{}", minor);
  return fmt::format("/dev/nvidia-caps/nvidia-cap{}", sim::capability_minor(minor, process.gpu_instance));
}

}  // namespace

Status write_sim_processes(const sim::Machine& machine, const std::string& folder) {
  TreeWriter tree{fs::path(folder)};
  for (const sim::Process& process : machine.processes) {
    if (process.used == 0 || process.start == 0 || process.gpu >= machine.gpu_count) continue;
    if (sim::start_of_process(process.pid) != process.start) continue;
    tree.file("proc/driver/nvidia-caps/mig-minors", sim_minors_table());
    const std::string own = fmt::format("proc/{}", process.pid);
    for (const char* name : {"stat", "status", "cgroup"})
      tree.file(fs::path(own) / name, read_regular("/" + own + "/" + name, kLongest).value_or(""));
    tree.link(fs::path(own) / "fd/3", node_of(machine, process));
  }
  return tree.result();
}

}  // namespace slipway::sim
