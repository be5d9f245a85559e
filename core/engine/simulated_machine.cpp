// SPDX-License-Identifier: Apache-2.0
#include "core/engine/simulated_machine.hpp"

#include <filesystem>

#include "core/engine/plugin_calls.hpp"

namespace slipway::core {
namespace {

namespace fs = std::filesystem;

constexpr const char* kHelper = "slipway-sim-machine.so";
constexpr std::chrono::seconds kLimit{60};

}  // namespace

Result<std::unique_ptr<SimulatedMachine>> SimulatedMachine::enter(const std::string& profile, const std::string& root,
                                                                  Ui& ui) {
  const std::string helper = helper_path(kHelper);
  if (std::error_code code; !fs::exists(helper, code))
    return Error{ErrorCode::not_found,
                 "--sim needs the simulator, which is not installed",
                 helper,
                 "install the package slipway-sim, or leave --sim out",
                 {}};
  SLIPWAY_TRY(scratch, base::ScratchFolder::make(fs::temp_directory_path().string(), "slipway-sim"));
  WorkerOptions options;
  options.plugin_path = helper;
  options.name = "simulator";
  SLIPWAY_TRY(worker, start_worker(options));
  std::unique_ptr<SimulatedMachine> machine(new SimulatedMachine(std::move(scratch), std::move(worker), root, ui));
  SLIPWAY_TRY(entered, machine->ask("enter", {{"profile", profile}, {"folder", machine->folder()}, {"root", root}}));
  machine->kernel_view_ = entered.value("kernel_view", "");
  machine->kernel_release_ = entered.value("kernel_release", "");
  machine->variables_ = entered.value("environment", std::vector<std::string>{});
  if (entered.contains("note")) ui.log(Ui::Level::debug, "", "no device is simulated: " + entered.value("note", ""));
  return machine;
}

void SimulatedMachine::follow_root() {
  if (variables_.empty()) return;
  const std::scoped_lock lock(mutex_);
  if (const auto followed = ask("follow", {{"root", root_}}); !followed)
    ui_.log(Ui::Level::debug, "", "the simulated machine stays as it is: " + followed.error().what);
}

Result<Json> SimulatedMachine::ask(const std::string& op, const Json& request) {
  return helper_->call(op, request, kLimit, {});
}

}  // namespace slipway::core
