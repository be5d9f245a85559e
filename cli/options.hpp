// SPDX-License-Identifier: Apache-2.0
// cli/options.hpp - the command line, read once; the same table makes --help.
#pragma once

#include <string>
#include <vector>

#include <slipway/result.hpp>

#include "core/engine/session.hpp"
#include "core/exit_code.hpp"
#include "log/settings.hpp"

namespace slipway::core {

struct Options {
  std::string command;
  std::vector<std::string> arguments;  ///< what is no option
  std::vector<std::string> given;      ///< the options on the command line, by long name
  std::string spec;                    ///< -f; empty: not given
  SessionOptions session;
  std::vector<std::string> only;
  std::string output = "text";  ///< text, json, jsonl
  std::string lock;
  bool locked = false;
  bool update = false;
  bool without_slipway = false;
  bool yes = false;
  bool boot = false;
  bool image = false;  ///< --image; then session.live is false
  bool condition = false;
  bool deep = false;
  bool all = false;
  bool help = false;
  bool dry_run = false;
  bool schema = false;
  bool verbose = false;
  std::string log_format;  ///< --log-format; empty: not given
  LogSettings log;         ///< of a command that logs: what --log-format, -v and SLIPWAY_LOG come to

  // pkg, init and the like
  std::string destination;        ///< --to
  std::vector<std::string> tags;  ///< --tag
  bool insecure = false;
  std::string trust;  ///< --trust unsigned
  std::string ca;     ///< --ca
};

/// Reads the options of a command; for components' tools everything after the tool's name is left in `arguments`.
/// Errors: `usage`.
Result<Options> read_options(const std::vector<std::string>& words, bool is_tool);

/// The form of output that these words ask for, before anybody has found them right: "json", "jsonl", else "text".
std::string output_of(const std::vector<std::string>& words);

/// One line of the table of options.
struct OptionEntry {
  std::string name;    ///< "--file"
  std::string letter;  ///< "-f"; empty: none
  std::string value;   ///< what stands behind it: "SPEC", "text|json|jsonl"; empty: nothing
  std::string text;
};

/// The table that read_options() reads by.
std::vector<OptionEntry> option_entries();

/// The options' help. @param names  long names of those that it is about; empty: all
std::string options_help(const std::vector<std::string>& names = {});

}  // namespace slipway::core
