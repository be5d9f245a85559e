// SPDX-License-Identifier: Apache-2.0
#include <map>

#include <slipway/service/unit_state.hpp>
#include <slipway/text.hpp>

namespace slipway {
namespace {

constexpr const char* kProperties =
    "--property=LoadState,ActiveState,SubState,Result,MainPID,CanReload,NeedDaemonReload,Type,Job,"
    "ExecMainExitTimestampMonotonic,ConditionResult,ConditionTimestampMonotonic";

Error not_answered(const ProcessOutput& ended, const std::vector<std::string>& command, const std::string& unit) {
  Error error{ErrorCode::io,
              "asking systemd about " + unit + " failed: `" + joined(command, " ") + "` ended with status " +
                  std::to_string(ended.exit_status),
              {},
              "check `systemctl status " + unit + "`",
              {}};
  if (const std::string messages = ended.output + ended.errors; !messages.empty())
    error.details.emplace_back("output", messages);
  return error;
}

}  // namespace

std::vector<std::string> unit_state_command(const std::string& unit) {
  return {"systemctl", "show", "--no-pager", kProperties, unit};
}

Result<UnitState> unit_state(const Host& host, const std::string& unit, std::chrono::milliseconds limit) {
  const std::vector<std::string> command = unit_state_command(unit);
  SLIPWAY_TRY(ended, host.run(command, limit));
  if (ended.exit_status != 0) return not_answered(ended, command, unit);
  std::map<std::string, std::string> values;
  for (const std::string& line : lines_of(ended.output))
    if (const std::size_t equals = line.find('='); equals != std::string::npos)
      values[line.substr(0, equals)] = line.substr(equals + 1);
  const std::string exited = values["ExecMainExitTimestampMonotonic"];
  UnitState state{values["LoadState"], values["ActiveState"], values["SubState"], values["Result"], values["MainPID"]};
  state.can_reload = values["CanReload"] == "yes";
  state.needs_daemon_reload = values["NeedDaemonReload"] == "yes";
  const std::string job = values["Job"];  // its number
  state.queued = state.active == "inactive" && !job.empty() && job != "0";
  // Before systemd has checked a unit's conditions for the first time, their result is "no" as well.
  const std::string looked = values["ConditionTimestampMonotonic"];
  const bool has_condition_unmet = values["ConditionResult"] == "no" && !looked.empty() && looked != "0";
  state.skipped = state.active == "inactive" && (state.result == "exec-condition" || has_condition_unmet);
  state.has_run = values["Type"] == "oneshot" && state.active == "inactive" && state.result == "success" &&
                  !exited.empty() && exited != "0";
  return state;
}

}  // namespace slipway
