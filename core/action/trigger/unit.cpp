// SPDX-License-Identifier: Apache-2.0
// core/action/trigger/unit.cpp - triggers `daemon-reload`, `restart:UNIT` and `reload:UNIT`, which only a running
// machine needs.
#include "core/action/systemd/systemd.hpp"
#include "core/action/trigger/triggers.hpp"

namespace slipway::core {
namespace {

/// Returns the reason why there is no systemd to tell; empty when there is one.
std::string why_no_systemd(const Host& host) {
  if (!host.live()) return "the root is not running; everything is read when it boots";
  if (!has_systemd(host)) return "this machine does not run systemd";
  return {};
}

/// Returns the reason why this unit needs nothing; empty when it runs, or has failed and may work now.
Result<std::string> nothing_to_do(const Host& host, const std::string& unit) {
  if (std::string why = why_no_systemd(host); !why.empty()) return why;
  SLIPWAY_TRY(state, unit_state(host, unit));
  if (state.load == "not-found") return "there is no unit " + unit + " here";
  if (state.load == "masked") return unit + " is masked";
  if (state.active == "inactive") return unit + " is not running; it reads its configuration when it starts";
  return std::string();
}

}  // namespace

Result<Prospect> foresee_systemd(const std::string& /*unit*/, const Host& host) {
  if (has_systemd(host)) SLIPWAY_CHECK(check_systemctl(host));
  return Prospect{};
}

Result<TriggerRun> run_daemon_reload(const std::string& /*none*/, ActionContext& context) {
  if (std::string why = why_no_systemd(context.host); !why.empty()) return skipped(why);
  SLIPWAY_CHECK(systemctl(context.host, "daemon-reload", ""));
  return TriggerRun{true, {}, "systemctl daemon-reload"};
}

Result<TriggerRun> run_restart(const std::string& unit, ActionContext& context) {
  SLIPWAY_TRY(why, nothing_to_do(context.host, unit));
  if (!why.empty()) return skipped(why);
  // systemd does not start a unit that was started or has failed too often, before its count is reset.
  SLIPWAY_CHECK(systemctl(context.host, "reset-failed", unit));
  SLIPWAY_CHECK(systemctl(context.host, "restart", unit));
  SLIPWAY_CHECK(expect_active(context.host, unit));
  return TriggerRun{true, {}, "systemctl restart " + unit};
}

Result<TriggerRun> run_reload(const std::string& unit, ActionContext& context) {
  SLIPWAY_TRY(why, nothing_to_do(context.host, unit));
  if (!why.empty()) return skipped(why);
  SLIPWAY_TRY(state, unit_state(context.host, unit));
  if (state.active == "failed") return skipped(unit + " has failed; it reads its configuration when it starts");
  if (!state.can_reload)
    return Error{ErrorCode::unsupported,
                 unit + " cannot reload its configuration while it runs",
                 unit,
                 "this is a defect of the component that asked for the reload: it has to name restart:" + unit,
                 {}};
  SLIPWAY_CHECK(systemctl(context.host, "reload", unit));
  SLIPWAY_CHECK(expect_active(context.host, unit));
  return TriggerRun{true, {}, "systemctl reload " + unit};
}

}  // namespace slipway::core
