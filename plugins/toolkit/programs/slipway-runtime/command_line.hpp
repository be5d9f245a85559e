// SPDX-License-Identifier: Apache-2.0
// plugins/toolkit/programs/slipway-runtime/command_line.hpp - the command line of an OCI runtime, as far as the shim
// has to understand it.
//
// Options are those of runc 1.x and crun 1.x. The shim never refuses a command line: the low-level runtime decides
// about options that it does not know.
#pragma once

#include <string>
#include <vector>

namespace slipway::shim {

struct CommandLine {
  std::string command;      ///< "create", "kill", …; empty if not found
  std::string bundle;       ///< --bundle of create and run; the current folder if it is not given
  std::string config_name;  ///< crun's --config; "config.json" if it is not given
  std::string log;          ///< --log; empty: none
  bool log_json = false;    ///< --log-format json

  /// True when a container is created, so that its bundle may need an edit.
  bool makes_container() const { return command == "create" || command == "run"; }
};

/// @param words  the arguments without the program's name
CommandLine parse_command_line(const std::vector<std::string>& words);

}  // namespace slipway::shim
