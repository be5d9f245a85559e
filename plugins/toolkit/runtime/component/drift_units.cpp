// SPDX-License-Identifier: Apache-2.0
// plugins/toolkit/runtime/component/drift_units.cpp - `on_drift: replace`: the state of the spec is restored by each
// apply and, on a running machine, as soon as one of the files changes.
#include <set>

#include "base/units/unit_text.hpp"
#include "toolkit/runtime/component/component.hpp"

namespace slipway::toolkit {
namespace {

constexpr const char* kMendService = "slipway-runtime-mend.service";
constexpr const char* kMendPath = "slipway-runtime-mend.path";

// Not a oneshot, for which systemd does not support RestartForceExitStatus. Status 75: another apply is running, and
// the unit waits for it. Any other failure ends here: the next change of the file starts the service again. The writer
// of the file has a second to finish. If a program rewrites the file whenever the engine restarts, the engine would
// restart forever: from the fourth time, each within a quarter of an hour of the previous one, the pause grows to two
// minutes.
constexpr const char* kPause =
    "/bin/sh -c 'f=/run/slipway/runtime-mend; mkdir -p /run/slipway; now=$$(date +%%s); "
    "{ read -r n t < $$f; } 2>/dev/null || { n=0; t=0; }; [ $$((now - t)) -lt 900 ] || n=0; n=$$((n + 1)); "
    "echo $$n $$now > $$f; s=1; [ $$n -le 3 ] || s=$$((15 * (n - 3))); [ $$s -le 120 ] || s=120; sleep $$s'";

std::string mend_service(const std::string& program) {
  return R"([Unit]
Description=slipway: runtime, restores what another program has removed from an engine's configuration
After=local-fs.target slipway-boot.service
StartLimitIntervalSec=0

[Service]
Type=exec
TimeoutStartSec=3min
ExecStartPre=)" +
         std::string(kPause) + R"(
ExecStart=)" +
         base::unit_word(program) + R"( apply --boot --only runtime
RestartForceExitStatus=75
RestartSec=5
RuntimeMaxSec=5min
MemoryMax=512M
TasksMax=256
# Otherwise as in slipway-boot.service, whose apply of this component is the same.
RestrictAddressFamilies=AF_UNIX AF_NETLINK
NoNewPrivileges=yes
CapabilityBoundingSet=~CAP_AUDIT_CONTROL CAP_AUDIT_READ CAP_AUDIT_WRITE CAP_BLOCK_SUSPEND CAP_BPF CAP_IPC_OWNER
CapabilityBoundingSet=~CAP_LEASE CAP_LINUX_IMMUTABLE CAP_MAC_ADMIN CAP_MAC_OVERRIDE CAP_NET_BIND_SERVICE
CapabilityBoundingSet=~CAP_NET_BROADCAST CAP_NET_RAW CAP_PERFMON CAP_SYS_BOOT CAP_SYS_MODULE CAP_SYS_PACCT
CapabilityBoundingSet=~CAP_SYS_RAWIO CAP_SYS_TIME CAP_SYS_TTY_CONFIG CAP_WAKE_ALARM
RestrictRealtime=yes
RestrictSUIDSGID=yes
LockPersonality=yes
KeyringMode=private
ProtectHostname=yes
SystemCallArchitectures=native
SystemCallFilter=~@clock @cpu-emulation @debug @module @obsolete @raw-io @reboot @swap
SystemCallErrorNumber=EPERM
LimitCORE=0
UMask=0022
)";
}

std::string mend_path(const std::string& program, const std::set<std::string>& files) {
  std::string text = "[Unit]\nDescription=slipway: runtime, waits for changes of the engines' configuration\n" +
                     base::unit_while_installed(program) + "\n[Path]\n";
  for (const std::string& file : files) text += "PathChanged=" + base::unit_path(file) + "\n";
  return text + "\n[Install]\nWantedBy=multi-user.target\n";
}

}  // namespace

Plan with_edits_replaced(const Plan& plan, const std::string& program) {
  Plan replacing;
  std::set<std::string> files;
  for (const Action& action : plan.actions()) {
    Json value = action.json();
    if (action.kind() == "merge" || action.kind() == "file") {
      value["on_drift"] = "replace";
      files.insert(action.target());
    }
    replacing.add(Action(std::move(value)));
  }
  for (const auto& [name, output] : plan.outputs().items()) replacing.output(name, output);
  for (const std::string& note : plan.notes()) replacing.note(note);
  if (files.empty()) return replacing;
  replacing
      .add(action::systemd_unit(
          {.name = kMendService, .content = mend_service(program), .enabled = false, .started = false}))
      .because("on_drift: replace");
  replacing
      .add(action::systemd_unit(
          {.name = kMendPath, .content = mend_path(program, files), .enabled = true, .started = true}))
      .because("it waits for changes of the engines' configuration");
  return replacing;
}

}  // namespace slipway::toolkit
