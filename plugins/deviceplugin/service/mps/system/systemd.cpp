// SPDX-License-Identifier: Apache-2.0
#include "deviceplugin/service/mps/system/systemd.hpp"

#include <chrono>
#include <utility>

#include <unistd.h>

#include "deviceplugin/service/mps/system/command.hpp"

namespace slipway::deviceplugin {
namespace {

constexpr std::chrono::milliseconds kSystemdLimit{15'000};  // a unit has 10 s to end

Result<CommandOutput> run_tool(std::vector<std::string> argv) {
  return run_command(std::move(argv), {"PATH=/usr/sbin:/usr/bin:/sbin:/bin"}, "", kSystemdLimit);
}

}  // namespace

bool systemd_runs() { return ::access("/run/systemd/system", F_OK) == 0; }

Status start_unit(const TransientUnit& unit) {
  CommandOutput output;
  for (const bool newest : {true, false}) {
    SLIPWAY_TRY(ran, run_tool(systemd_run_words(unit, newest)));
    if (ran.ended && ran.status == 0) return {};
    output = std::move(ran);
    if (!output.ended || output.text.find("nknown") == std::string::npos) break;  // "Unknown assignment: …"
  }
  return Error{.code = ErrorCode::io,
               .what = "systemd does not start " + unit.name + ": " + output.text,
               .where = unit.name,
               .next = "look at `systemctl status " + unit.name + "` and `journalctl -u " + unit.name + "`"};
}

void stop_unit(const std::string& name) { (void)run_tool({"systemctl", "--quiet", "--no-ask-password", "stop", name}); }

void set_properties(const std::string& name, const std::vector<std::string>& properties) {
  std::vector<std::string> words{"systemctl", "--quiet", "--no-ask-password", "--runtime", "set-property", name};
  words.insert(words.end(), properties.begin(), properties.end());
  (void)run_tool(std::move(words));
}

Status mount_tmpfs(const std::string& path, const std::string& options) {
  SLIPWAY_TRY(output, run_tool({"systemd-mount", "--quiet", "--no-ask-password", "--collect", "--type=tmpfs",
                                "--options=" + options, "shm", path}));
  if (output.ended && output.status == 0) return {};
  return Error{.code = ErrorCode::io,
               .what = "systemd does not mount a tmpfs at " + path + ": " + output.text,
               .where = path,
               .next = "look at `journalctl --boot`"};
}

}  // namespace slipway::deviceplugin
