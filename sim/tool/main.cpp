// SPDX-License-Identifier: Apache-2.0
// slipway-sim FOLDER COMMAND …: creates a simulated GPU machine, and changes it while programs use it.
#include <cstdio>
#include <exception>

#include "base/log/lines.hpp"
#include "base/write/standard_output.hpp"
#include "sim/model/machine.hpp"
#include "sim/model/profile.hpp"
#include "sim/state/events.hpp"
#include "sim/tool/change.hpp"
#include "sim/tool/mapped_state.hpp"
#include "sim/view/driver.hpp"
#include "sim/view/view.hpp"

namespace slipway::sim {
namespace {

constexpr const char* kHelp =
    "Usage: slipway-sim FOLDER COMMAND\n\n"
    "A simulated GPU machine lives in FOLDER/machine. Programs see it through the simulated NVML:\n"
    "    SLIPWAY_SIM=FOLDER LD_LIBRARY_PATH=$(slipway-sim library) nvidia-smi\n"
    "    SLIPWAY_SIM=FOLDER SLIPWAY_NVML=$(slipway-sim library)/libnvidia-ml.so.1 slipway gfd labels\n\n"
    "  make PROFILE[,KEY=VALUE…]        a machine as it is after boot; replaces the one in FOLDER\n"
    "  tree PROFILE ROOT                writes sys, proc and dev of the machine with its driver into ROOT; again after "
    "a\n"
    "                                   change of MIG instances\n"
    "  show | calls                     the present state; how often each function was called\n"
    "  costs                            how often, and the processor time that it took, in microseconds\n"
    "  forget-calls                     counts from zero again\n"
    "  gpu N|all lost|found|hang|resume|remove|restore|reset\n"
    "  gpu N|all xid NUMBER | ecc-corrected COUNT | ecc-uncorrected COUNT | load PERCENT | memory MIB\n"
    "  gpu N|all mig on|off | sticky-mig on|off | no-reset on|off | destroy-fails COUNT | create-fails COUNT\n"
    "  gpu N|all profiles-when-disabled on|off\n"
    "  gpu N|all recovery ACTION\n"
    "  driver loaded|unloaded|mismatch|VERSION\n"
    "  process add|attach GPU PID [MIB [compute|graphics|mps|holder [NAME [GI CI]]]] | process remove PID|all\n"
    "  function NAME|all delay MICROSECONDS | processor MICROSECONDS | fail CODE | fail-call NUMBER | hang on|off\n"
    "\n`slipway-sim library` prints the folder of the simulated libnvidia-ml.so.1, `slipway-sim profiles` the "
    "profiles.\n";

void print(const std::string& text) { base::write_standard_output(text); }

Status make(const std::string& folder, const Words& words) {
  if (words.size() != 1) return usage("make needs a profile", "slipway-sim FOLDER make h100x8");
  const auto folders = sim_profile_folders();
  SLIPWAY_TRY(profile, read_sim_profile(words[0], folders));
  SLIPWAY_TRY(machine, make_sim_machine(profile, folders));
  return write_sim_machine(*machine, folder);
}

/// Writes the trees of a machine with a loaded driver, in its current state.
Status tree(const std::string& folder, const Words& words) {
  if (words.size() != 2) return usage("tree needs a profile and a folder", "slipway-sim FOLDER tree h100x8 ROOT");
  SLIPWAY_TRY(profile, read_sim_profile(words[0], sim_profile_folders()));
  SLIPWAY_TRY(machine, read_sim_machine(folder));
  SLIPWAY_CHECK(add_sim_view(profile, words[1]));
  return write_sim_driver_tree(profile, *machine, words[1]);
}

void forget_calls(sim::Machine& machine) {
  machine.initialisations = 0;
  for (sim::FunctionState& state : machine.functions) state.calls = state.spent_us = 0;
}

Status change(const std::string& folder, const std::string& command, const Words& words) {
  if (command == "make") return make(folder, words);
  if (command == "tree") return tree(folder, words);
  SLIPWAY_TRY(mapped, MappedMachine::open(folder));
  sim::Machine& machine = mapped.machine();
  const auto look = command == "show"    ? show_machine
                    : command == "calls" ? show_calls
                    : command == "costs" ? show_costs
                                         : nullptr;
  if (look != nullptr) {
    print(look(machine));
    return {};
  }
  if (command == "forget-calls")
    forget_calls(machine);
  else if (command == "gpu")
    SLIPWAY_CHECK(change_gpu(machine, words));
  else if (command == "driver")
    SLIPWAY_CHECK(change_driver(machine, words));
  else if (command == "process")
    SLIPWAY_CHECK(change_process(machine, words));
  else if (command == "function")
    SLIPWAY_CHECK(change_function(machine, words));
  else
    return usage("there is no command '" + command + "'", "`slipway-sim --help` lists them");
  sim::note_change(machine);
  return {};
}

Status run(const Words& words) {
  if (words[0] == "library") {
    SLIPWAY_TRY(library, sim_library());
    print(library.substr(0, library.rfind('/')) + "\n");
    return {};
  }
  if (words[0] == "profiles") {
    for (const std::string& name : sim_profile_names(sim_profile_folders())) print(name + "\n");
    return {};
  }
  if (words.size() < 2) return usage("name a change for " + words[0], "`slipway-sim --help`");
  return change(words[0], words[1], {words.begin() + 2, words.end()});
}

}  // namespace
}  // namespace slipway::sim

int main(int count, char** values) {
  constexpr int kUsageExit = 64;
  const slipway::sim::Words words(values + 1, values + count);
  slipway::base::begin_program();
  try {
    const bool help = words.empty() || words[0] == "--help" || words[0] == "-h";
    if (help) slipway::base::write_standard_output(slipway::sim::kHelp);
    slipway::Status done = help ? slipway::Status() : slipway::sim::run(words);
    if (done) done = slipway::base::standard_output_status();
    if (done) return words.empty() ? kUsageExit : 0;
    std::fputs(slipway::base::printable(slipway::to_text(done.error()), true).c_str(), stderr);
    return done.error().where == "command line" ? kUsageExit : 1;
  } catch (const std::exception& problem) {
    std::fprintf(stderr, "slipway-sim: %s\n", problem.what());
    return 1;
  }
}
