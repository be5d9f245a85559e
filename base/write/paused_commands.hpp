// SPDX-License-Identifier: Apache-2.0
// base/write/paused_commands.hpp - /run/slipway/paused.json: the commands that `slipway pause` has run
// since the boot.
//
// A service that was paused has seen nothing of what the command did to its devices, and reads here what ran.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include <slipway/result.hpp>
#include <slipway/root_dir.hpp>

namespace slipway {

inline constexpr const char* kPausedFile = "/run/slipway/paused.json";

struct PausedCommand {
  std::vector<std::string> words;
  int exit_code = 0;                            ///< as a shell has it
  std::chrono::steady_clock::time_point ended;  ///< the clock is one for all processes of a boot
};

/// Adds a command; the last 64 are kept. The file is for root alone: a command line may hold a secret.
/// A command of more than 4096 bytes is left out.
/// Errors: of the file system; `locked` another command is recorded just now.
Status record_paused_command(const RootDir& root, const PausedCommand& command);

/// Those of this boot, the earliest first. Empty where there is no file, where this user may not read it, and where
/// others than root and this user could have written it.
std::vector<PausedCommand> read_paused_commands(const RootDir& root);

/// The id of the running boot.
std::string this_boot();

}  // namespace slipway
