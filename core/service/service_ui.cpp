// SPDX-License-Identifier: Apache-2.0
#include "core/service/service_ui.hpp"

#include <cstdio>
#include <cstdlib>

namespace slipway::core {

ServiceUi::ServiceUi(bool debug) : journal_(std::getenv("JOURNAL_STREAM") != nullptr), debug_(debug) {}

void ServiceUi::log(Level level, const std::string& component, const std::string& text) {
  if (level == Level::debug && !debug_) return;
  const char* const priority = level == Level::warning ? "<4>" : level == Level::info ? "<6>" : "<7>";
  const char* const word = level == Level::warning ? "warning: " : "";
  std::fprintf(stderr, "%s%s: %s%s\n", journal_ ? priority : "", component.c_str(), journal_ ? "" : word, text.c_str());
}

}  // namespace slipway::core
