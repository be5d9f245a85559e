// SPDX-License-Identifier: Apache-2.0
// plugins/toolkit/options.hpp - the command lines of tools: "--name value", "--name=value", "--flag", "--flag=false".
#pragma once

#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include <slipway/result.hpp>

namespace slipway::toolkit {

/// What an option does with its value. A flag has none, or one behind a "=".
struct Option {
  bool flag = false;
  std::function<Status(const std::string& value)> take;
};

/// By name, with the dashes.
using Options = std::map<std::string, Option>;

Option text_option(std::string& into);
/// Values with commas between them; may be given several times.
Option list_option(std::vector<std::string>& into);
Option set_option(std::set<std::string>& into);
/// No value, or true or false.
Option flag_option(const std::string& name, bool& into, const std::string& tool);

/// @param tool  "slipway toolkit cdi generate"
Error usage_error(const std::string& tool, const std::string& what);

/// Hands each option its value. @return the names of those that were given
/// Errors: `invalid` an option that is none, with the one that was meant; one without its value.
Result<std::set<std::string>> take_options(const std::vector<std::string>& words, const Options& known,
                                           const std::string& tool);

}  // namespace slipway::toolkit
