// SPDX-License-Identifier: Apache-2.0
#include "arguments.hpp"

#include <algorithm>

namespace slipway::hook {
namespace {

Error misused(const std::string& what) {
  return Error{ErrorCode::usage, what, "command line", "correct the hook's arguments in the CDI spec", {}};
}

}  // namespace

Result<Arguments> Arguments::parse(const std::vector<std::string>& words, const std::vector<std::string>& known) {
  Arguments arguments;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (!words[i].starts_with("-")) return misused("'" + words[i] + "' is not an option");
    std::string name = words[i].substr(
        words[i].find_first_not_of('-') == std::string::npos ? words[i].size() : words[i].find_first_not_of('-'));
    std::string value;
    const std::size_t equals = name.find('=');
    const bool joined = equals != std::string::npos;
    if (joined) {
      value = name.substr(equals + 1);
      name.erase(equals);
    }
    if (std::find(known.begin(), known.end(), name) == known.end()) return misused("unknown option --" + name);
    if (!joined) {
      if (i + 1 == words.size()) return misused("--" + name + " needs a value");
      value = words[++i];
    }
    arguments.values_[name].push_back(value);
  }
  return arguments;
}

std::string Arguments::last(const std::string& name, const std::string& otherwise) const {
  const auto found = values_.find(name);
  return found == values_.end() ? otherwise : found->second.back();
}

std::vector<std::string> Arguments::all(const std::string& name) const {
  const auto found = values_.find(name);
  return found == values_.end() ? std::vector<std::string>{} : found->second;
}

}  // namespace slipway::hook
