// SPDX-License-Identifier: Apache-2.0
#include "fake_machine.hpp"

namespace slipway::core {

bool FakeMachine::has_file(const std::string& unit) const {
  return root_.has("/etc/systemd/system/" + unit) || root_.has("/usr/lib/systemd/system/" + unit);
}

std::string FakeMachine::show(const std::string& unit) const {
  const auto found = units.find(unit);
  const Unit state = found == units.end() ? Unit{} : found->second;
  const bool known = found != units.end() || has_file(unit);
  return std::string("LoadState=") + (known ? "loaded" : "not-found") + "\nActiveState=" + state.active +
         "\nSubState=" + state.sub + "\nResult=" + state.result + "\nMainPID=" + state.pid + "\nType=" + state.type +
         "\nExecMainExitTimestampMonotonic=" + state.ended + "\nCanReload=" + (state.can_reload ? "yes" : "no") +
         "\nNeedDaemonReload=" + (state.needs_reload ? "yes" : "no") + "\n";
}

ProcessOutput FakeMachine::systemctl(const std::vector<std::string>& argv) {
  const std::string verb = argv.at(1);
  if (verb == "show") return {0, show(argv.back()), {}, false};
  calls.push_back("systemctl " + verb + (argv.size() > 2 ? " " + argv[2] : ""));
  if (verb == "daemon-reload") {
    for (auto& [name, unit] : units) unit.needs_reload = false;
    return {};
  }
  const std::string name = argv.at(2);
  if (!units.contains(name) && !has_file(name)) return {5, {}, "Unit " + name + " not found.\n", false};
  Unit& unit = units[name];
  if (verb == "stop") unit = Unit{.active = dies_stopping.contains(name) ? "failed" : "inactive", .type = unit.type};
  if (verb == "reset-failed" && unit.active == "failed") unit.active = "inactive";
  if (verb == "start" && unit.active == "active") return {};
  if (verb == "start" || verb == "restart") {
    unit.active = dies.contains(name) ? "failed" : "active";
    unit.sub = dies.contains(name) ? "failed" : "running";
    unit.result = dies.contains(name) ? "exit-code" : "success";
    unit.pid = dies.contains(name) ? "0" : std::to_string(next_pid_++);
    if (unit.type == "oneshot") unit = Unit{.type = "oneshot", .ended = "12345"};
  }
  return {};
}

Result<ProcessOutput> FakeMachine::execute(const std::vector<std::string>& argv) {
  if (argv.front() == "systemctl") return systemctl(argv);
  if (argv.front() == "journalctl") return ProcessOutput{0, "journal: last words of " + argv.at(2) + "\n", {}, false};
  const auto program = programs.find(argv.front());
  if (program == programs.end()) return Error{ErrorCode::not_found, "no program " + argv.front(), argv.front(), {}, {}};
  calls.push_back(argv.front());
  return program->second(argv);
}

}  // namespace slipway::core
