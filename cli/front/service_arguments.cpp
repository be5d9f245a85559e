// SPDX-License-Identifier: Apache-2.0
#include "base/command_line/read_words.hpp"
#include "cli/front/direct_service.hpp"
#include "cli/front/direct_tool.hpp"
#include "cli/front/option_table.hpp"

namespace slipway::cli {

std::optional<ServiceWords> service_words(const std::vector<std::string>& words, const char* level) {
  if (words.empty() || words[0] != "service") return std::nullopt;
  // --cache has no effect, since nothing is downloaded here.
  const CommandTable line{.options = options_named({"boot", "condition", "verbose", "root", "log-format", "cache"}),
                          .most_arguments = 1};
  const auto read = command_line::read_words(line, {words.begin() + 1, words.end()});
  if (!read || read->help || read->arguments.empty() || !is_component_name(read->arguments[0])) return std::nullopt;
  const auto log = base::read_log_settings(read->text("log-format"), read->flag("verbose"), level);
  if (!read->flag("boot") || !log) return std::nullopt;
  return ServiceWords{read->arguments[0], read->text("root", "/"), *log, read->flag("condition")};
}

}  // namespace slipway::cli
