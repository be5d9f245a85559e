// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "sim/tool/change.hpp"

namespace slipway::sim {
namespace {

std::string faults_of(const sim::Gpu& gpu) {
  std::string text;
  if (gpu.hidden != 0) text += " removed";
  if (gpu.faults.lost != 0) text += " lost";
  if (gpu.faults.hang != 0) text += " hangs";
  if (gpu.mig_current != gpu.mig_pending) text += " mig-mode-pending";
  return text;
}

std::string gpu_text(const sim::Machine& machine, unsigned index) {
  const sim::Gpu& gpu = machine.gpus[index];
  std::string text = fmt::format("gpu {}: {} {} {:04x}:{:02x}:{:02x}.0 load {}% mig {}{}\n", index, gpu.model.name,
                                 gpu.uuid, gpu.domain, gpu.bus, gpu.device, gpu.load_percent,
                                 gpu.model.mig.capable == 0 ? "none"
                                 : gpu.mig_current != 0     ? "on"
                                                            : "off",
                                 faults_of(gpu));
  for (const sim::GpuInstance& instance : gpu.instances) {
    if (instance.used == 0) continue;
    unsigned compute = 0;
    for (const sim::ComputeInstance& each : instance.compute) compute += each.used;
    text += fmt::format("  gi {}: {} at {}:{}, {} compute instances\n", instance.id,
                        gpu.model.mig.profiles[instance.profile].name, instance.start, instance.size, compute);
  }
  return text;
}

}  // namespace

std::string show_machine(const sim::Machine& machine) {
  static constexpr const char* kDriver[] = {"loaded", "unloaded", "mismatch"};
  std::string text = fmt::format("profile {}\ndriver {} {}\n", machine.profile, machine.driver_version,
                                 kDriver[static_cast<unsigned>(machine.driver) % 3]);
  for (unsigned i = 0; i < machine.gpu_count; ++i) text += gpu_text(machine, i);
  for (const sim::Process& process : machine.processes)
    if (process.used != 0)
      text += fmt::format("process {}: {} on gpu {}, {} MiB\n", process.pid, process.name, process.gpu,
                          process.memory_bytes >> 20U);
  return text;
}

std::string show_calls(const sim::Machine& machine) {
  std::string text = fmt::format("initialisations {}\n", machine.initialisations);
  for (std::uint32_t i = 0; i < sim::kFunctionCount; ++i)
    if (machine.functions[i].calls > 0)
      text += fmt::format("{} {}\n", sim::kFunctions[i].name, machine.functions[i].calls);
  return text;
}

std::string show_costs(const sim::Machine& machine) {
  std::string text;
  std::uint64_t calls = 0;
  std::uint64_t spent = 0;
  for (std::uint32_t i = 0; i < sim::kFunctionCount; ++i) {
    const sim::FunctionState& function = machine.functions[i];
    if (function.calls == 0) continue;
    calls += function.calls;
    spent += function.spent_us;
    text += fmt::format("{} {} {}\n", sim::kFunctions[i].name, function.calls, function.spent_us);
  }
  return text + fmt::format("all {} {}\n", calls, spent);
}

}  // namespace slipway::sim
