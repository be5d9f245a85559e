// SPDX-License-Identifier: Apache-2.0
#include "cli/terminal_ui.hpp"

#include <cstdio>

#include <unistd.h>

#include "cli/command.hpp"
#include "cli/render/render.hpp"
#include "cli/render/text.hpp"
#include "log/lines.hpp"

namespace slipway::core {
namespace {

constexpr std::chrono::milliseconds kDrawStep{100};
constexpr int kBarWidth = 30;

std::string bar(std::uint64_t done, std::uint64_t total) {
  if (total == 0) return std::to_string(done);
  const auto filled = static_cast<std::size_t>(static_cast<double>(done) / static_cast<double>(total) * kBarWidth);
  return "[" + std::string(filled, '#') + std::string(kBarWidth - filled, '.') + "] " + mebibytes(done) + " of " +
         mebibytes(total);
}

/// What a label says before ": ", after which comes the part that is being worked on now: too much for a log.
std::string step_of(const std::string& label) { return label.substr(0, label.find(": ")); }

}  // namespace

TerminalUi::TerminalUi(const LogSettings& settings, bool json_lines)
    : log_(settings, {.fit = [](const std::string& text) { return wrapped(text, columns_of(STDERR_FILENO)); }}),
      json_lines_(json_lines),
      bars_(!json_lines && settings.format == LogFormat::text && log_.shows(LogLevel::info) &&
            ::isatty(STDERR_FILENO) == 1) {}

TerminalUi::~TerminalUi() { clear_bar(); }

void TerminalUi::clear_bar() {
  if (bar_shown_) std::fputs("\r\033[K", stderr);
  bar_shown_ = false;
}

void TerminalUi::event(Json members) { print(json_text(envelope("Event", std::move(members)), "jsonl")); }

void TerminalUi::write(LogEvent event) {
  clear_bar();
  event.generation = generation_;
  log_.write(event);
}

void TerminalUi::set_generation(std::optional<int> number) {
  const std::scoped_lock lock(mutex_);
  generation_ = number;
}

void TerminalUi::log(Level level, const Subject& about, const std::string& text) {
  const LogLevel shown = level == Level::warning ? LogLevel::warning
                         : level == Level::info  ? LogLevel::info
                                                 : LogLevel::debug;
  if (!log_.shows(shown)) return;
  const std::scoped_lock lock(mutex_);
  if (json_lines_)
    event({{"type", level == Level::warning ? "warning" : "log"}, {"component", about.component}, {"text", text}});
  write({shown, about.component, about.phase, {}, text, {}, {}});
}

void TerminalUi::step(const Subject& about, const std::string& text) {
  const std::scoped_lock lock(mutex_);
  if (json_lines_) return event({{"type", "step"}, {"component", about.component}, {"text", text}});
  write({LogLevel::info, about.component, about.phase, {}, text, {}, {}});
}

void TerminalUi::failed(const std::string& component, const Error& error, const std::string& text) {
  const std::scoped_lock lock(mutex_);
  LogEvent event = event_of(error, text);
  event.component = component;
  write(std::move(event));
}

void TerminalUi::progress(const std::string& component, const std::string& label, std::uint64_t done,
                          std::uint64_t total) {
  const std::scoped_lock lock(mutex_);
  const bool finished = total != 0 && done >= total;
  const auto now = std::chrono::steady_clock::now();
  if (!finished && label == last_label_ && now - last_draw_ < kDrawStep) return;
  last_draw_ = now;
  if (json_lines_) {
    event({{"type", "progress"}, {"component", component}, {"label", label}, {"done", done}, {"total", total}});
  } else if (bars_) {
    std::fprintf(stderr, "\r\033[K%s: %s %s", component.c_str(), printable(label).c_str(), bar(done, total).c_str());
    bar_shown_ = true;
    if (finished) clear_bar();
  } else if (step_of(label) != step_of(last_label_)) {
    write({LogLevel::info, component, {}, {}, step_of(label), {}, {}});
  }
  last_label_ = finished ? "" : label;
}

}  // namespace slipway::core
