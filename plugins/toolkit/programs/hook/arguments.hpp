// SPDX-License-Identifier: Apache-2.0
// plugins/toolkit/programs/hook/arguments.hpp - the options of one hook: --name value or --name=value, each as often as
// needed.
#pragma once

#include <map>
#include <string>
#include <vector>

#include <slipway/result.hpp>

namespace slipway::hook {

class Arguments {
 public:
  /// @param known  the hook's options, without dashes. Errors: `invalid` for another one, a missing value,
  /// or a word that is not an option.
  static Result<Arguments> parse(const std::vector<std::string>& words, const std::vector<std::string>& known);

  /// Returns the last value, or `otherwise` if it was not given.
  std::string last(const std::string& name, const std::string& otherwise = "") const;
  /// Returns all values, in order.
  std::vector<std::string> all(const std::string& name) const;

 private:
  std::map<std::string, std::vector<std::string>> values_;
};

}  // namespace slipway::hook
