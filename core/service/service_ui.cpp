// SPDX-License-Identifier: Apache-2.0
#include "core/service/service_ui.hpp"

#include <charconv>

#include <slipway/regular_file.hpp>

namespace slipway::core {

std::optional<int> generation_in_force(const RootDir& root) {
  const std::string text = read_regular(root, "/var/lib/slipway/generations/current", 32).value_or("");
  int number = 0;
  if (std::from_chars(text.data(), text.data() + text.size(), number).ec != std::errc{}) return std::nullopt;
  return number;
}

void ServiceUi::log(Level level, const Subject& about, const std::string& text) {
  const base::LogLevel shown = level == Level::warning ? base::LogLevel::warning
                               : level == Level::info  ? base::LogLevel::info
                                                       : base::LogLevel::debug;
  if (!log_.shows(shown)) return;
  // Read for each line: an apply makes a new generation while the service runs.
  log_.write({shown, about.component, about.phase, generation_in_force(root_), advise_ ? advise_(text) : text, {}, {}});
}

void ServiceUi::failed(const std::string& component, const Error& error) {
  base::LogEvent event = base::event_of(error, to_text(error));
  event.component = component;
  event.phase = "service";
  event.generation = generation_in_force(root_);
  log_.write(event);
}

}  // namespace slipway::core
