// SPDX-License-Identifier: Apache-2.0
// cli/options/options.hpp - the parsed command line of slipway's own commands.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include <slipway/command_line.hpp>

#include "app/engine.hpp"
#include "base/log/settings.hpp"

namespace slipway::cli {

struct Options {
  std::string command;                 ///< "plan", or for a verb "new"
  std::vector<std::string> arguments;  ///< the words that are not options
  std::vector<std::string> given;      ///< the options on the command line, by long name
  std::string spec;                    ///< -f; empty: not given
  core::SessionOptions session;
  std::vector<std::string> only;
  std::string output = "text";  ///< text, json, jsonl
  std::string lock;
  bool locked = false;
  bool update = false;
  bool without_slipway = false;
  std::optional<std::vector<std::string>> replace_edits;  ///< --replace-edits: paths; empty: all; nothing: not given
  bool yes = false;
  std::optional<std::chrono::seconds> wait;             ///< --wait, more than 0
  std::optional<std::chrono::seconds> wait_for_source;  ///< --wait-for-source, more than 0
  bool boot = false;
  bool after_boot = false;  ///< for verify
  /// Uses the active generation, whatever a spec says, and nothing from the environment: for units.
  bool is_of_a_boot() const { return boot || after_boot; }
  bool of_generation = false;  ///< uses the active generation, whatever a spec says: for `slipway kernel`
  std::optional<std::chrono::seconds> within;  ///< --within, more than 0
  bool image = false;                          ///< --image; then session.live is false
  bool condition = false;
  bool deep = false;
  bool all = false;
  bool help = false;
  bool dry_run = false;
  bool schema = false;
  bool verbose = false;
  std::string log_format;  ///< --log-format; empty: not given
  base::LogSettings log;   ///< for a command that logs: the result of --log-format, -v and SLIPWAY_LOG

  // for pkg, init and similar
  std::string destination;        ///< --to
  std::vector<std::string> tags;  ///< --tag
  bool insecure = false;
  std::string trust;  ///< --trust unsigned
  std::string ca;     ///< --ca
};

/// Returns the requested form of output before the words are checked: "json", "jsonl", else "text".
std::string output_of(const std::vector<std::string>& words);

}  // namespace slipway::cli
