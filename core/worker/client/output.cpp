// SPDX-License-Identifier: Apache-2.0
#include "core/worker/client/output.hpp"

#include <algorithm>
#include <utility>

#include <slipway/text.hpp>

namespace slipway::core {

void ToolOutput::printed(std::string_view bytes, const Listener& listener) {
  bytes_ += bytes.size();
  while (!bytes.empty()) {
    const std::size_t room = kMaxLine - open_line_.size();
    const std::size_t end = bytes.substr(0, room).find('\n');
    const bool whole = end != std::string_view::npos;
    open_line_ += bytes.substr(0, whole ? end : room);
    bytes.remove_prefix(whole ? end + 1 : std::min(room, bytes.size()));
    if (whole || open_line_.size() >= kMaxLine) flush(listener);
  }
}

void ToolOutput::flush(const Listener& listener) {
  if (!open_line_.empty()) line("info", std::exchange(open_line_, {}), listener);
}

void ToolOutput::logged(const std::string& level, const std::string& text, const Listener& listener) {
  bytes_ += text.size();
  line(level == "debug" || level == "warning" ? level : "info", text, listener);
}

void ToolOutput::line(const std::string& level, std::string text, const Listener& listener) {
  if (listener) listener(level, text);
  if (text.size() > kMaxLine) text.resize(kMaxLine);
  last_.push_back(std::move(text));
  if (last_.size() > kKeptLines) last_.pop_front();
}

std::string ToolOutput::last_lines() const { return joined(last_, "\n"); }

}  // namespace slipway::core
