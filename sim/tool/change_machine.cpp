// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <charconv>
#include <cstring>
#include <utility>

#include "nvidia/nvml/abi/base.h"
#include "nvidia/nvml/abi/event.h"
#include "sim/state/events.hpp"
#include "sim/state/mig_rules.hpp"
#include "sim/tool/change.hpp"

namespace slipway::sim {
namespace {

/// Reports that the driver is bound to every GPU of the machine, or unbound from all.
void report_driver_of_all(sim::Machine& machine, std::uint64_t event) {
  for (unsigned i = 0; i < machine.gpu_count; ++i)
    if (machine.gpus[i].hidden == 0) sim::add_system_event(machine, i, event);
}

void unload(sim::Machine& machine, sim::Driver state) {
  if (std::exchange(machine.driver, state) == sim::Driver::loaded)
    report_driver_of_all(machine, NVML_SYSTEM_EVENT_GPU_DRIVER_UNBIND);
}

/// Loading a driver again invalidates all handles and removes the instances; on Ampere the infoROM keeps the MIG mode.
void reload(sim::Machine& machine) {
  unload(machine, sim::Driver::unloaded);
  ++machine.epoch;
  machine.driver = sim::Driver::loaded;
  for (unsigned i = 0; i < machine.gpu_count; ++i) {
    sim::Gpu& gpu = machine.gpus[i];
    gpu.mig_current = gpu.mig_pending = gpu.model.mig.resetless != 0 ? 0 : gpu.mig_pending;
    sim::clear_instances(gpu);
  }
  report_driver_of_all(machine, NVML_SYSTEM_EVENT_GPU_DRIVER_BIND);
}

Result<std::uint32_t> kind_of(const std::string& word) {
  const std::vector<std::string> names{"compute", "graphics", "mps", "holder"};
  const auto found = std::ranges::find(names, word);
  if (found == names.end())
    return usage("there is no kind of process '" + word + "'", "compute, graphics, mps, holder");
  return static_cast<std::uint32_t>(found - names.begin());
}

Status add_process(sim::Machine& machine, const Words& words) {
  constexpr const char* kProcessUsage = "slipway-sim FOLDER process add|attach GPU PID [MIB [KIND [NAME [GI CI]]]]";
  if (words.size() < 3) return usage("a process needs a GPU and a pid", kProcessUsage);
  SLIPWAY_TRY(gpu, number_of(words[1]));
  SLIPWAY_TRY(pid, number_of(words[2]));
  if (gpu >= machine.gpu_count) return usage("there is no GPU " + words[1], kProcessUsage);
  auto* const slot = std::ranges::find(machine.processes, 0U, &sim::Process::used);
  if (slot == std::end(machine.processes)) return usage("there is no room for another process", kProcessUsage);
  sim::Process process{.used = 1,
                       .gpu = static_cast<std::uint32_t>(gpu),
                       .pid = static_cast<std::uint32_t>(pid),
                       .gpu_instance = NVML_NO_INSTANCE,
                       .compute_instance = NVML_NO_INSTANCE};
  if (words.size() > 3) {
    SLIPWAY_TRY(mib, number_of(words[3]));
    process.memory_bytes = mib << 20U;
  }
  if (words.size() > 4) {
    SLIPWAY_TRY(kind, kind_of(words[4]));
    process.kind = kind;
  }
  sim::set_text(process.name, words.size() > 5 ? words[5] : "/usr/bin/python3");
  if (words.size() > 7) {
    SLIPWAY_TRY(instance, number_of(words[6]));
    SLIPWAY_TRY(compute, number_of(words[7]));
    process.gpu_instance = static_cast<std::uint32_t>(instance);
    process.compute_instance = static_cast<std::uint32_t>(compute);
  }
  if (words[0] == "attach") {
    process.start = sim::start_of_process(process.pid);
    if (process.start == 0) return usage("this machine has no process " + words[2], kProcessUsage);
  }
  *slot = process;
  return {};
}

}  // namespace

Error usage(const std::string& what, const std::string& next) {
  return Error{ErrorCode::invalid, what, "command line", next, {}};
}

Result<std::uint64_t> number_of(const std::string& word) {
  std::uint64_t value = 0;
  const auto [end, problem] = std::from_chars(word.data(), word.data() + word.size(), value);
  if (problem != std::errc{} || end != word.data() + word.size())
    return usage("'" + word + "' is not a whole number", "give a number from 0 up");
  return value;
}

Status change_driver(sim::Machine& machine, const Words& words) {
  if (words.size() != 1)
    return usage("driver needs one word", "slipway-sim FOLDER driver loaded|unloaded|mismatch|VERSION");
  if (words[0] == "unloaded") {
    unload(machine, sim::Driver::unloaded);
  } else if (words[0] == "mismatch") {
    unload(machine, sim::Driver::mismatch);
  } else if (words[0] == "loaded") {
    if (machine.driver != sim::Driver::loaded) reload(machine);
  } else {
    unsigned branch = 0;
    std::from_chars(words[0].data(), words[0].data() + words[0].size(), branch);
    if (branch < 100) return usage("'" + words[0] + "' is not a driver version", "for example 550.90.07");
    sim::set_text(machine.driver_version, words[0]);
    machine.driver_branch = branch;
    reload(machine);
  }
  return {};
}

Status change_process(sim::Machine& machine, const Words& words) {
  if (!words.empty() && (words[0] == "add" || words[0] == "attach")) return add_process(machine, words);
  if (words.size() != 2 || words[0] != "remove")
    return usage("process takes add, attach or remove", "slipway-sim FOLDER process remove PID|all");
  std::uint64_t pid = 0;
  if (words[1] != "all") {
    SLIPWAY_TRY(given, number_of(words[1]));
    pid = given;
  }
  for (sim::Process& process : machine.processes)
    if (words[1] == "all" || process.pid == pid) process = sim::Process{};
  return {};
}

Status change_function(sim::Machine& machine, const Words& words) {
  constexpr const char* kFunctionUsage =
      "slipway-sim FOLDER function NAME|all delay MICROSECONDS | processor MICROSECONDS | fail CODE | fail-call NUMBER "
      "| hang on|off";
  if (words.size() != 3) return usage("function needs a name, a change and a value", kFunctionUsage);
  const bool flag = words[2] == "on" || words[2] == "off";
  const auto value = flag ? Result<std::uint64_t>(words[2] == "on" ? 1 : 0) : number_of(words[2]);
  SLIPWAY_CHECK(value);
  bool found = false;
  for (std::uint32_t i = 0; i < sim::kFunctionCount; ++i) {
    if (words[0] != "all" && words[0] != sim::kFunctions[i].name) continue;
    found = true;
    sim::FunctionState& state = machine.functions[i];
    if (words[1] == "delay")
      state.cost.wall_us = static_cast<std::uint32_t>(*value);
    else if (words[1] == "processor")
      state.cost.processor_us = static_cast<std::uint32_t>(*value);
    else if (words[1] == "fail")
      state.error = static_cast<std::int32_t>(*value);
    else if (words[1] == "fail-call")
      state.failing_call = *value == 0 ? 0 : state.calls + *value;
    else if (words[1] == "hang")
      state.hang = static_cast<std::uint32_t>(*value);
    else
      return usage("a function cannot '" + words[1] + "'", kFunctionUsage);
  }
  return found ? Status() : Status(usage("NVML has no function '" + words[0] + "'", kFunctionUsage));
}

}  // namespace slipway::sim
