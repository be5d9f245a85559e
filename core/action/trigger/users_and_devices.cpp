// SPDX-License-Identifier: Apache-2.0
// core/action/trigger/users_and_devices.cpp - triggers `sysusers`, which creates the users and groups of sysusers.d,
// and `udev:SUBSYSTEM`, which makes udev read its rules again and apply them to the existing devices.
//
// Users and groups stay when the component that named them is removed, as those of packages do: files may belong to
// them, and would belong to the next user that gets the same number.
#include "core/action/trigger/triggers.hpp"
#include "sandbox/tool.hpp"

namespace slipway::core {
namespace {

constexpr std::chrono::seconds kSysusersLimit{60};
constexpr std::chrono::seconds kUdevLimit{120};
constexpr const char* kSysusers = "systemd-sysusers";
constexpr const char* kUdevadm = "udevadm";

bool has_own_sysusers(const Host& host) {
  return sandbox::root_has_tool(host, kSysusers) && sandbox::root_runs_here(host);
}

Result<sandbox::ToolEnd> make_users(ActionContext& context) {
  if (context.host.live()) return sandbox::run_live(context.host, {kSysusers}, kSysusersLimit);
  if (has_own_sysusers(context.host)) {
    auto end = sandbox::run_in_root(context.root, {kSysusers}, kSysusersLimit);
    if (end || end.error().code != ErrorCode::unsupported || !sandbox::machine_has_tool(kSysusers)) return end;
  }
  return sandbox::run_beside(context.root, {kSysusers}, "--root", kSysusersLimit);
}

}  // namespace

Result<Prospect> foresee_sysusers(const std::string& /*none*/, const Host& host) {
  if (host.live() ? sandbox::root_has_tool(host, kSysusers) : has_own_sysusers(host)) return Prospect{kSysusers, {}};
  if (host.live()) return Prospect{{}, "this machine has no systemd-sysusers: create users and groups by hand"};
  if (!sandbox::machine_has_tool(kSysusers))
    return Prospect{{},
                    "neither the root nor this machine has systemd-sysusers: users and groups are made at the boot"};
  SLIPWAY_CHECK(sandbox::check_beside(host, kSysusers));
  return Prospect{std::string(kSysusers) + " of this machine", {}};
}

Result<TriggerRun> run_sysusers(const std::string& /*none*/, ActionContext& context) {
  SLIPWAY_TRY(prospect, foresee_sysusers({}, context.host));
  if (!prospect.skipped.empty()) return skipped(prospect.skipped);
  SLIPWAY_TRY(end, make_users(context));
  if (end.status != 0)
    return sandbox::tool_failed(end, "making users and groups",
                                "check the files in sysusers.d, then run `slipway apply` again");
  context.root.note_changed("/etc");
  for (const char* file : {"/etc/passwd", "/etc/group", "/etc/shadow", "/etc/gshadow"})
    SLIPWAY_CHECK(context.root.settle_time(file));
  return TriggerRun{true, {}, sandbox::command_text(end)};
}

Result<Prospect> foresee_udev(const std::string& /*subsystem*/, const Host& host) {
  if (!host.live()) return Prospect{{}, "the root is not running; udev reads its rules when it boots"};
  return sandbox::root_has_tool(host, kUdevadm) ? Prospect{kUdevadm, {}} : Prospect{{}, "this machine has no udev"};
}

Result<TriggerRun> run_udev(const std::string& subsystem, ActionContext& context) {
  SLIPWAY_TRY(prospect, foresee_udev(subsystem, context.host));
  if (!prospect.skipped.empty()) return skipped(prospect.skipped);
  const std::vector<std::vector<std::string>> steps{
      {kUdevadm, "control", "--reload"},
      {kUdevadm, "trigger", "--action=change", "--subsystem-match=" + subsystem},
      {kUdevadm, "settle", "--timeout=60"}};
  for (const auto& step : steps) {
    SLIPWAY_TRY(end, sandbox::run_live(context.host, step, kUdevLimit));
    if (end.status != 0)
      return sandbox::tool_failed(end, "applying udev's rules to " + subsystem,
                                  "check the rules with `udevadm test`, then run `slipway apply` again");
  }
  return TriggerRun{true, {}, "udevadm trigger --subsystem-match=" + subsystem};
}

}  // namespace slipway::core
