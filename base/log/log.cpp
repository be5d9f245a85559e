// SPDX-License-Identifier: Apache-2.0
// The only file that includes spdlog and fmt: as headers, since `slipway` is static.
#define FMT_HEADER_ONLY 1
#include "base/log/log.hpp"

#include <mutex>

#include <spdlog/formatter.h>
#include <spdlog/logger.h>
#include <spdlog/sinks/ansicolor_sink.h>
#include <spdlog/sinks/base_sink.h>
#include <unistd.h>

#include <slipway/text/display.hpp>

#include "base/log/journal.hpp"
#include "base/log/lines.hpp"

namespace slipway::base {
namespace {

/// The event that this thread has passed to spdlog, whose messages have no further fields (spdlog's own mdc, in later
/// versions, works the same way). Formatters and sinks run in the thread that logs.
thread_local const LogEvent* t_event = nullptr;

spdlog::level::level_enum level_of(LogLevel level) {
  switch (level) {
    case LogLevel::error:
      return spdlog::level::err;
    case LogLevel::warning:
      return spdlog::level::warn;
    case LogLevel::info:
      return spdlog::level::info;
    case LogLevel::debug:
      return spdlog::level::debug;
  }
  return spdlog::level::info;
}

void append(std::string_view text, spdlog::memory_buf_t& to) { to.append(text.data(), text.data() + text.size()); }

class JsonLines final : public spdlog::formatter {
 public:
  void format(const spdlog::details::log_msg& message, spdlog::memory_buf_t& to) override {
    append(json_line(*t_event, message.time) + "\n", to);
  }
  std::unique_ptr<spdlog::formatter> clone() const override { return std::make_unique<JsonLines>(); }
};

/// Lines for users; the level's word is coloured, and a debug line is coloured as a whole.
class TextLines final : public spdlog::formatter {
 public:
  explicit TextLines(std::function<std::string(const std::string&)> fit) : fit_(std::move(fit)) {}
  void format(const spdlog::details::log_msg& message, spdlog::memory_buf_t& to) override {
    const std::string text = fit_ ? fit_(text_line(*t_event)) : text_line(*t_event);
    const std::string_view mark = level_mark(t_event->level);
    const std::size_t at = mark.empty() ? std::string::npos : text.find(mark);
    const bool whole = t_event->level == LogLevel::debug;
    message.color_range_start = whole || at == std::string::npos ? 0 : at;
    message.color_range_end = whole ? text.size() : at == std::string::npos ? 0 : at + mark.size();
    append(text + "\n", to);
  }
  std::unique_ptr<spdlog::formatter> clone() const override { return std::make_unique<TextLines>(fit_); }

 private:
  std::function<std::string(const std::string&)> fit_;
};

spdlog::sink_ptr standard_error(std::unique_ptr<spdlog::formatter> formatter, bool colour) {
  auto sink = std::make_shared<spdlog::sinks::ansicolor_stderr_sink_mt>(colour ? spdlog::color_mode::always
                                                                               : spdlog::color_mode::never);
  sink->set_color(spdlog::level::debug, sink->dark);
  sink->set_formatter(std::move(formatter));
  return sink;
}

class JournalSink final : public spdlog::sinks::base_sink<std::mutex> {
 public:
  explicit JournalSink(const std::string& socket) : journal_(socket) {}

 private:
  void sink_it_(const spdlog::details::log_msg&) override {
    if (journal_.send(*t_event)) return;
    const std::string line = priority_line(*t_event) + "\n";
    (void)!::write(STDERR_FILENO, line.data(), line.size());
  }
  void flush_() override {}
  SystemdJournal journal_;
};

spdlog::sink_ptr sink_of(LogFormat format, const LogPlace& place) {
  if (format == LogFormat::json) return standard_error(std::make_unique<JsonLines>(), false);
  if (is_journal(STDERR_FILENO, place.journal_stream)) return std::make_shared<JournalSink>(place.journal_socket);
  return standard_error(std::make_unique<TextLines>(place.fit), shows_colour(STDERR_FILENO));
}

}  // namespace

struct Log::Parts {
  explicit Parts(spdlog::sink_ptr sink) : logger("slipway", std::move(sink)) {}
  spdlog::logger logger;
};

Log::Log(const LogSettings& settings, const LogPlace& place)
    : parts_(std::make_unique<Parts>(sink_of(settings.format, place))) {
  parts_->logger.set_level(level_of(settings.level));
}

Log::~Log() = default;

bool Log::shows(LogLevel level) const { return parts_->logger.should_log(level_of(level)); }

void Log::write(const LogEvent& event) {
  t_event = &event;
  parts_->logger.log(level_of(event.level), spdlog::string_view_t(event.message.data(), event.message.size()));
  t_event = nullptr;
}

}  // namespace slipway::base
