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
  std::string folder;                              ///< that it runs in; empty: the present one
  std::map<std::string, std::string> environment;  ///< all of it, besides the tool's own variables
};

class Hooks {
 public:
  /// Errors: `invalid`, with the place.
  static Result<Hooks> from_yaml(const std::string& text, const std::string& file);

  /// Names of hooks that upstream has no use for; it ignores them.
  const std::vector<std::string>& unknown() const { return unknown_; }
  bool empty() const { return by_name_.empty(); }

  /// Runs the programs of one hook in their order, until one fails. Their words go to the log.
  /// @param variables  of the tool's options: they take precedence. Nothing of this process's environment is handed on.
  /// Errors: `io` a program cannot be started or ends with another status than 0; the details have its last words.
  Status run(const std::string& name, const std::map<std::string, std::string>& variables, ToolIo& io) const;

 private:
  std::map<std::string, std::vector<Hook>> by_name_;
  std::vector<std::string> unknown_;
};

}  // namespace slipway::mig
