// SPDX-License-Identifier: Apache-2.0
// plugins/mig/tools/hooks.hpp - the hooks file of nvidia-mig-parted: programs to run around an apply.
#pragma once

#include <map>
#include <string>
#include <vector>

#include <slipway/commands.hpp>
#include <slipway/result.hpp>

namespace slipway::mig {

struct Hook {
  std::string command;
  std::vector<std::string> arguments;
  std::string folder;                              ///< working folder; empty: the current one
  std::map<std::string, std::string> environment;  ///< the whole environment, except the tool's own variables
};

class Hooks {
 public:
  /// Errors: `invalid`, with the place.
  static Result<Hooks> from_yaml(const std::string& text, const std::string& file);

  /// Names of hooks that upstream does not use; it ignores them.
  const std::vector<std::string>& unknown() const { return unknown_; }
  bool empty() const { return by_name_.empty(); }

  /// Runs the programs of one hook in their order, until one fails. Their output goes to the log.
  /// @param variables  the tool's options as variables: they take precedence. Hooks do not inherit this environment.
  /// Errors: `io` a program cannot be started or exits with a status other than 0; the details have its last output.
  Status run(const std::string& name, const std::map<std::string, std::string>& variables, ToolIo& io) const;

 private:
  std::map<std::string, std::vector<Hook>> by_name_;
  std::vector<std::string> unknown_;
};

}  // namespace slipway::mig
