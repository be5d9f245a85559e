// SPDX-License-Identifier: Apache-2.0
#include "cli/front/direct_service.hpp"
#include "cli/front/direct_tool.hpp"

namespace slipway::core {

std::optional<ServiceWords> service_words(const std::vector<std::string>& words, const char* level) {
  if (words.size() < 3 || words[0] != "service" || !is_component_name(words[1])) return std::nullopt;
  ServiceWords read{words[1], "/", {}};
  std::string log_format;
  bool verbose = false;
  bool boot = false;
  bool condition = false;
  for (std::size_t i = 2; i < words.size(); ++i) {
    const bool has_value = i + 1 < words.size();
    if (words[i] == "--boot")
      boot = true;
    else if (words[i] == "--condition")
      condition = true;
    else if (words[i] == "-v")
      verbose = true;
    else if (words[i] == "--root" && has_value)
      read.root = words[++i];
    else if (words[i] == "--log-format" && has_value)
      log_format = words[++i];
    else if (words[i] == "--cache" && has_value)
      ++i;  // nothing is downloaded here
    else
      return std::nullopt;
  }
  const auto log = read_log_settings(log_format, verbose, level);
  if (!boot || !log) return std::nullopt;
  read.log = *log;
  read.condition = condition;
  return read;
}

}  // namespace slipway::core
