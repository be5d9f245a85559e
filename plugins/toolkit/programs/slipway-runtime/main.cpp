// SPDX-License-Identifier: Apache-2.0
// slipway-runtime [RUNC'S ARGUMENTS]: an OCI runtime for engines without CDI support. It applies the host's CDI specs
// to the containers that request NVIDIA devices, and leaves the rest to runc.
#include <cstdio>
#include <ctime>

#include "toolkit/programs/slipway-runtime/bundle.hpp"
#include "toolkit/programs/slipway-runtime/command_line.hpp"
#include "toolkit/requests/config.hpp"
#include "toolkit/requests/report.hpp"

namespace slipway::shim {
namespace {

/// Writes to the log that the engine named, in its format, and to the log in the settings, if `log-level` allows it.
void tell(const CommandLine& line, const Config& config, Level level, const std::string& message) {
  if (level > config.log_level) return;
  const std::time_t now = std::time(nullptr);
  if (level < Level::info) append_log(line.log, log_line(level, message, line.log_json, now));
  append_log(config.debug_log, log_line(level, message, false, now));
}

int give_up(const CommandLine& line, const Config& config, const Error& error) {
  const std::string message = one_line("slipway-runtime", error);
  tell(line, config, Level::error, message);
  std::fprintf(stderr, "%s\n", message.c_str());
  return 1;
}

void log_edit(const CommandLine& line, const Config& config, const Edited& edited) {
  for (const std::string& warning : edited.warnings) tell(line, config, Level::warning, "slipway-runtime: " + warning);
  if (config.debug_log.empty() || edited.devices.empty()) return;
  std::string devices;
  for (const std::string& device : edited.devices) devices += " " + device;
  tell(line, config, Level::info, line.bundle + ":" + devices + ", asked for by " + edited.source);
  for (const std::string& edit : edited.edits) tell(line, config, Level::debug, line.bundle + ": " + edit);
}

int main_of(int count, char** words) {
  if (count < 1) return 1;
  const CommandLine line = parse_command_line({words + 1, words + count});
  auto config = read_config(config_path());
  // A mistake in the settings must not prevent a container from being stopped.
  if (!config && line.makes_container()) return give_up(line, Config{}, config.error());
  if (!config) config = Config{};
  auto program = find_low_level(config->runtimes);
  if (!program) return give_up(line, *config, program.error());
  if (line.makes_container()) {
    const auto edited = prepare_bundle(line, *config);
    if (!edited) return give_up(line, *config, edited.error());
    log_edit(line, *config, *edited);
  }
  return give_up(line, *config, become(*program, words));
}

}  // namespace
}  // namespace slipway::shim

int main(int count, char** words) { return slipway::shim::main_of(count, words); }
