// SPDX-License-Identifier: Apache-2.0
#include "cli/terminal_ui.hpp"

#include <cstdio>
#include <cstdlib>
#include <string_view>

#include <unistd.h>

#include "cli/command.hpp"
#include "cli/render/render.hpp"
#include "cli/render/text.hpp"

namespace slipway::cli {
namespace {

constexpr std::chrono::milliseconds kDrawStep{100};
constexpr std::chrono::seconds kWatchStep{1};
constexpr std::chrono::seconds kLogStep{30};
constexpr std::chrono::seconds kQuiet{1};  // after a pause of this length, another step may use the line

/// True when standard error is a terminal that can clear a line.
bool can_draw() {
  const char* const terminal = std::getenv("TERM");
  return ::isatty(STDERR_FILENO) == 1 && (terminal == nullptr || std::string_view(terminal) != "dumb");
}

std::string_view unit_name(core::Progress::Unit unit) {
  return unit == core::Progress::Unit::files ? "files" : "bytes";
}

}  // namespace

TerminalUi::TerminalUi(const base::LogSettings& settings, bool json_lines)
    : log_(settings, {.fit = [](const std::string& text) { return wrapped(text, columns_of(STDERR_FILENO)); }}),
      json_lines_(json_lines),
      bars_(!json_lines && settings.format == base::LogFormat::text && log_.shows(base::LogLevel::info) && can_draw()) {
}

TerminalUi::~TerminalUi() { clear_bar(); }

void TerminalUi::clear_bar() {
  if (bar_shown_) std::fputs("\r\033[K", stderr);
  bar_shown_ = false;
}

void TerminalUi::event(Json members) { print(json_text(envelope("Event", std::move(members)), "jsonl")); }

void TerminalUi::write(base::LogEvent event) {
  clear_bar();
  event.generation = generation_;
  log_.write(event);
}

void TerminalUi::set_generation(std::optional<int> number) {
  const std::scoped_lock lock(mutex_);
  generation_ = number;
}

void TerminalUi::log(Level level, const core::Subject& about, const std::string& text) {
  const base::LogLevel shown = level == Level::warning ? base::LogLevel::warning
                               : level == Level::info  ? base::LogLevel::info
                                                       : base::LogLevel::debug;
  if (!log_.shows(shown)) return;
  const std::scoped_lock lock(mutex_);
  if (json_lines_)
    event({{"type", level == Level::warning ? "warning" : "log"}, {"component", about.component}, {"text", text}});
  write({shown, about.component, about.phase, {}, text, {}, {}});
}

void TerminalUi::step(const core::Subject& about, const std::string& text) {
  const std::scoped_lock lock(mutex_);
  if (watcher_) watcher_((about.component.empty() ? "" : about.component + ": ") + text);
  if (json_lines_) return event({{"type", "step"}, {"component", about.component}, {"text", text}});
  write({base::LogLevel::info, about.component, about.phase, {}, text, {}, {}});
}

void TerminalUi::looking(const std::string& text) {
  const std::scoped_lock lock(mutex_);
  const std::size_t columns = bars_ && !json_lines_ ? columns_of(STDERR_FILENO) : 0;
  if (text.empty() || columns == 0) return clear_bar();
  std::fprintf(stderr, "\r\033[K%s", text.substr(0, columns - 1).c_str());
  bar_shown_ = true;
}

void TerminalUi::set_watcher(const std::function<void(const std::string& line)>& watcher) {
  const std::scoped_lock lock(mutex_);
  watcher_ = watcher;
}

void TerminalUi::failed(const std::string& component, const Error& error, const std::string& text) {
  const std::scoped_lock lock(mutex_);
  base::LogEvent event = base::event_of(error, text);
  event.component = component;
  write(std::move(event));
}

void TerminalUi::progress(const std::string& component, const core::Progress& progress) {
  const std::scoped_lock lock(mutex_);
  const bool finished = progress.total != 0 && progress.done >= progress.total;
  const auto [found, begins] = steps_.try_emplace({component, step_of(progress.label)}, component);
  Step& step = found->second;
  const auto now = std::chrono::steady_clock::now();
  const bool is_new_step = begins || finished || progress.label != step.meter.last().label;
  step.meter.report(progress, now);
  if (watcher_ && now - step.watched >= kWatchStep) {
    watcher_((component.empty() ? "" : component + ": ") + step.meter.progress_text());
    step.watched = now;
  }
  const std::size_t columns = bars_ ? columns_of(STDERR_FILENO) : 0;
  if (json_lines_) {
    if (!is_new_step && now - step.told < kDrawStep) return;
    event({{"type", "progress"},
           {"component", component},
           {"label", progress.label},
           {"done", progress.done},
           {"total", progress.total},
           {"unit", unit_name(progress.unit)}});
    step.told = now;
  } else if (columns == 0) {
    const bool again = !finished && now - step.told >= kLogStep;
    if (begins || again) {
      write(
          {base::LogLevel::info, component, {}, {}, begins ? found->first.second : step.meter.progress_text(), {}, {}});
      step.told = now;
    }
  } else if (finished) {
    write({base::LogLevel::info, component, {}, {}, step.meter.summary(), {}, {}});
  } else {
    draw(step, columns);
  }
  if (!finished) return;
  if (drawn_ == &step) drawn_ = nullptr;
  steps_.erase(found);
}

void TerminalUi::draw(Step& step, std::size_t columns) {
  const auto now = step.meter.last_time();
  const bool taken = drawn_ != nullptr && drawn_ != &step && now - drawn_->meter.last_time() < kQuiet;
  if (taken || (bar_shown_ && drawn_ == &step && now - step.told < kDrawStep)) return;
  // A character in the last column would make some terminals start a new line.
  std::fprintf(stderr, "\r\033[K%s", step.meter.line(columns - 1).c_str());
  drawn_ = &step;
  step.told = now;
  bar_shown_ = true;
}

}  // namespace slipway::cli
