// SPDX-License-Identifier: Apache-2.0
#include "core/action/systemd/systemd.hpp"

#include <chrono>
#include <string>
#include <thread>
#include <vector>

#include <slipway/text.hpp>

namespace slipway::core {
namespace {

constexpr std::chrono::seconds kLookLimit{30};
constexpr std::chrono::seconds kJobLimit{300};
constexpr std::chrono::milliseconds kLookEvery{200};
constexpr int kLooksToSettle = 5;  ///< finds a service that crashes at once within a second
constexpr int kLooksToStart = 50;  ///< 10 s for "activating" to end, when starting did not wait for it

/// Returns the unit's newest journal lines; empty when the journal cannot be read.
std::string journal_of(const Host& host, const std::string& unit) {
  const auto lines =
      sandbox::run_live(host, {"journalctl", "-u", unit, "-n", "20", "--no-pager", "-o", "cat"}, kLookLimit);
  return lines && lines->status == 0 ? sandbox::last_lines(lines->output, 20) : std::string();
}

void add_journal(Error& error, const Host& host, const std::string& unit) {
  if (const std::string lines = journal_of(host, unit); !lines.empty()) error.details.emplace_back("log", lines);
}

Error not_active(const Host& host, const std::string& unit, const UnitState& state) {
  Error error{ErrorCode::io,
              unit + " is " + state.active + " (" + state.sub + ")" +
                  (state.result.empty() || state.result == "success" ? "" : ", its result is " + state.result),
              unit,
              "look at `systemctl status " + unit + "` and `journalctl -u " + unit + "`",
              {}};
  add_journal(error, host, unit);
  return error;
}

}  // namespace

bool has_systemd(const Host& host) { return host.live() && host.exists("/run/systemd/system"); }

Status check_systemctl(const Host& host) {
  return sandbox::root_has_tool(host, "systemctl")
             ? Status{}
             : sandbox::tool_missing(host, "systemctl", "tell systemd of units", "systemd");
}

Status systemctl(const Host& host, const std::string& verb, const std::string& unit) {
  std::vector<std::string> argv{"systemctl", verb};
  if (!unit.empty()) argv.push_back(unit);
  SLIPWAY_TRY(end, sandbox::run_live(host, argv, kJobLimit));
  if (end.status == 0) return {};
  const std::string next = unit.empty() ? "check `systemctl status`" : "look at `systemctl status " + unit + "`";
  Error error = sandbox::tool_failed(
      end, unit.empty() ? "telling systemd to " + verb : "systemd's job to " + verb + " " + unit, next);
  error.where = unit;
  if (!unit.empty()) add_journal(error, host, unit);
  return error;
}

Status expect_active(const Host& host, const std::string& unit) {
  std::string pid;
  for (int looks = 0, good = 0; good < kLooksToSettle; ++looks) {
    SLIPWAY_TRY(state, unit_state(host, unit));
    if (state.skipped) return {};
    const bool starting = state.active == "activating" && looks < kLooksToStart;
    if (!starting && !state.running()) return not_active(host, unit, state);
    good = starting || (good > 0 && state.main_pid != pid) ? 0 : good + 1;
    if (looks >= 2 * kLooksToStart) return not_active(host, unit, state);  // it keeps crashing and restarting
    if (good > 0 && state.main_pid == "0") return {};  // a oneshot that remains active has no process that could crash
    pid = state.main_pid;
    if (good < kLooksToSettle) std::this_thread::sleep_for(kLookEvery);
  }
  return {};
}

}  // namespace slipway::core
