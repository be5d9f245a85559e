// SPDX-License-Identifier: Apache-2.0
// base/write/paused_commands.hpp - /run/slipway/paused.json: the commands that `slipway pause` has run
// since the boot.
//
// A paused service has not seen what the command did to its devices, and reads here which commands ran.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include <slipway/result.hpp>
#include <slipway/root_dir.hpp>

namespace slipway::base {

inline constexpr const char* kPausedFile = "/run/slipway/paused.json";

struct PausedCommand {
  std::vector<std::string> words;
  int exit_code = 0;                            ///< in the form of a shell
  std::chrono::steady_clock::time_point ended;  ///< this clock is the same for all processes of a boot
};

/// Adds a command; keeps the last 64. Only root may read the file: a command line may contain a secret. Skips a command
/// of more than 4096 bytes.
/// Errors: of the file system; `locked` another command is being recorded.
Status record_paused_command(const RootDir& root, const PausedCommand& command);

/// Returns the commands of this boot, the earliest first. Empty when there is no file, when this user may not read it,
/// and when users other than root and this user could have written it.
std::vector<PausedCommand> read_paused_commands(const RootDir& root);

/// The id of the running boot.
std::string this_boot();

}  // namespace slipway::base
