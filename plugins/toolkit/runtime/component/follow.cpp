// SPDX-License-Identifier: Apache-2.0
// plugins/toolkit/runtime/component/follow.cpp - `on_drift: replace`: what the spec asks for is put back, by each apply
// and, on a running machine, as soon as one of the files changes.
#include <set>

#include "toolkit/runtime/component/component.hpp"

namespace slipway::toolkit {
namespace {

constexpr const char* kMendService = "slipway-runtime-mend.service";
constexpr const char* kMendPath = "slipway-runtime-mend.path";

/// A path in a unit: "%" begins a specifier.
std::string in_unit(const std::string& path) {
  std::string text;
  for (const char c : path) text += c == '%' ? std::string("%%") : std::string(1, c);
  return text;
}

// Not a oneshot, of which systemd takes no RestartForceExitStatus. Who writes the file has a moment to end. Status 75:
// another apply holds the machine, and is waited for. Another failure ends here: the next change of the file starts the
// service again.
std::string mend_service(const std::string& program) {
  return R"([Unit]
Description=slipway: runtime, puts back what another program has taken out of an engine's configuration
After=local-fs.target slipway-boot.service
StartLimitIntervalSec=0

[Service]
Type=exec
ExecStartPre=/bin/sleep 1
ExecStart=)" +
         in_unit(program) + R"( apply --boot --only runtime
RestartForceExitStatus=75
RestartSec=5
RuntimeMaxSec=5min
MemoryMax=512M
TasksMax=256
NoNewPrivileges=yes
LockPersonality=yes
RestrictRealtime=yes
RestrictSUIDSGID=yes
LimitCORE=0
UMask=0022
)";
}

std::string mend_path(const std::string& program, const std::set<std::string>& files) {
  std::string text =
      "[Unit]\nDescription=slipway: runtime, waits for changes of the engines' configuration\n"
      "ConditionFileIsExecutable=" +
      in_unit(program) + "\n\n[Path]\n";
  for (const std::string& file : files) text += "PathChanged=" + in_unit(file) + "\n";
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
