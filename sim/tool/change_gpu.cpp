// SPDX-License-Identifier: Apache-2.0
#include <functional>
#include <map>
#include <utility>

#include "nvidia/nvml/abi/event.h"
#include "sim/state/events.hpp"
#include "sim/state/mig_rules.hpp"
#include "sim/tool/change.hpp"

namespace slipway::sim {
namespace {

constexpr const char* kGpuUsage =
    "slipway-sim FOLDER gpu N|all WHAT [VALUE]; WHAT is lost, found, hang, resume, remove, restore, reset, xid NUMBER, "
    "ecc-corrected COUNT, ecc-uncorrected COUNT, load PERCENT, memory MIB, mig on|off, sticky-mig on|off, "
    "no-reset on|off, profiles-when-disabled on|off, destroy-fails COUNT, create-fails COUNT, recovery ACTION";

/// One GPU of the machine, and the value of the change.
struct Change {
  sim::Machine& machine;
  unsigned index;
  std::uint64_t value;
  sim::Gpu& gpu() const { return machine.gpus[index]; }
  std::uint32_t small() const { return static_cast<std::uint32_t>(value); }
};

void tell(const Change& change, std::uint64_t type, std::uint64_t data) {
  sim::add_event(change.machine, change.index, type, data);
}

/// Reports that the driver releases a GPU that is removed from the bus, and binds one that is back.
void report_driver(const Change& change, bool bound) {
  sim::add_system_event(change.machine, change.index,
                        bound ? NVML_SYSTEM_EVENT_GPU_DRIVER_BIND : NVML_SYSTEM_EVENT_GPU_DRIVER_UNBIND);
}

void lose(const Change& change) {
  constexpr std::uint64_t kFellOffTheBus = 79;  // the XID
  if (std::exchange(change.gpu().faults.lost, 1) == 0) tell(change, NVML_EVENT_GPU_UNAVAILABLE_ERROR, kFellOffTheBus);
}

/// A GPU that fell off the bus comes back when it is removed and found again.
void come_back(const Change& change) {
  if (std::exchange(change.gpu().faults.lost, 0) != 0) report_driver(change, true);
}

void hide(const Change& change, bool hidden) {
  const std::uint32_t before = std::exchange(change.gpu().hidden, hidden ? 1 : 0);
  if ((before != 0) != hidden) report_driver(change, !hidden);
}

void set_recovery(const Change& change, std::uint32_t action) {
  if (std::exchange(change.gpu().faults.recovery_action, action) != action)
    tell(change, NVML_EVENT_GPU_RECOVERY_ACTION, action);
}

/// Does what a reset does: pending modes take effect, instances and volatile counters are cleared.
void reset(const Change& change) {
  sim::Gpu& gpu = change.gpu();
  come_back(change);
  set_recovery(change, 0);
  gpu.faults.hang = 0;
  if (gpu.mig_current != gpu.mig_pending) tell(change, NVML_EVENT_MIG_CONFIG_CHANGE, 0);
  gpu.mig_current = gpu.mig_pending;
  gpu.ecc_current = gpu.ecc_pending;
  gpu.ecc.corrected_volatile = gpu.ecc.uncorrected_volatile = 0;
  sim::clear_instances(gpu);
}

void count_ecc(const Change& change, bool corrected) {
  sim::EccCounts& ecc = change.gpu().ecc;
  (corrected ? ecc.corrected_volatile : ecc.uncorrected_volatile) += change.value;
  (corrected ? ecc.corrected_aggregate : ecc.uncorrected_aggregate) += change.value;
  tell(change, corrected ? NVML_EVENT_SINGLE_BIT_ECC_ERROR : NVML_EVENT_DOUBLE_BIT_ECC_ERROR, change.value);
}

void set_mig(const Change& change) {
  change.gpu().mig_current = change.gpu().mig_pending = change.small();
  sim::clear_instances(change.gpu());
  tell(change, NVML_EVENT_MIG_CONFIG_CHANGE, 0);
}

using Do = std::function<void(const Change&)>;

const std::map<std::string, Do>& without_value() {
  static const std::map<std::string, Do> all{
      {"lost", lose},
      {"found", come_back},
      {"hang", [](const Change& c) { c.gpu().faults.hang = 1; }},
      {"resume", [](const Change& c) { c.gpu().faults.hang = 0; }},
      {"remove", [](const Change& c) { hide(c, true); }},
      {"restore", [](const Change& c) { hide(c, false); }},
      {"reset", reset},
  };
  return all;
}

const std::map<std::string, Do>& with_value() {
  static const std::map<std::string, Do> all{
      {"xid", [](const Change& c) { tell(c, NVML_EVENT_XID_CRITICAL_ERROR, c.value); }},
      {"ecc-corrected", [](const Change& c) { count_ecc(c, true); }},
      {"ecc-uncorrected", [](const Change& c) { count_ecc(c, false); }},
      {"load", [](const Change& c) { c.gpu().load_percent = std::min(c.small(), 100U); }},
      {"memory", [](const Change& c) { c.gpu().memory_used_mib = c.value; }},
      {"mig", set_mig},
      {"sticky-mig", [](const Change& c) { c.gpu().faults.sticky_mig_mode = c.small(); }},
      {"no-reset", [](const Change& c) { c.gpu().faults.no_reset = c.small(); }},
      {"profiles-when-disabled", [](const Change& c) { c.gpu().model.mig.query_when_disabled = c.small(); }},
      {"destroy-fails", [](const Change& c) { c.gpu().faults.destroy_in_use = c.small(); }},
      {"create-fails", [](const Change& c) { c.gpu().faults.create_fails = c.small(); }},
      {"recovery", [](const Change& c) { set_recovery(c, c.small()); }},
  };
  return all;
}

Result<std::uint64_t> value_of(const std::string& word) {
  if (word == "on") return std::uint64_t{1};
  if (word == "off") return std::uint64_t{0};
  return number_of(word);
}

}  // namespace

Status change_gpu(sim::Machine& machine, const Words& words) {
  if (words.size() < 2) return usage("gpu needs the number of a GPU and a change", kGpuUsage);
  unsigned first = 0;
  unsigned last = machine.gpu_count;
  if (words[0] != "all") {
    SLIPWAY_TRY(index, number_of(words[0]));
    if (index >= machine.gpu_count)
      return usage("there is no GPU " + words[0], "the machine has " + std::to_string(machine.gpu_count));
    first = static_cast<unsigned>(index);
    last = first + 1;
  }
  const bool plain = words.size() == 2 && without_value().count(words[1]) != 0;
  const bool valued = words.size() == 3 && with_value().count(words[1]) != 0;
  if (!plain && !valued) return usage("gpu has no change '" + words[1] + "' with such a value", kGpuUsage);
  std::uint64_t value = 0;
  if (valued) {
    SLIPWAY_TRY(given, value_of(words[2]));
    value = given;
  }
  const Do& change = plain ? without_value().at(words[1]) : with_value().at(words[1]);
  for (unsigned i = first; i < last; ++i) change(Change{machine, i, value});
  return {};
}

}  // namespace slipway::sim
