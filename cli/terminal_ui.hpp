// SPDX-License-Identifier: Apache-2.0
// cli/terminal_ui.hpp - writes a command's messages to the log, and its progress to a line with a bar when standard
// error is a terminal. With "-o jsonl", steps, progress and log messages are lines on standard output, before the
// result.
#pragma once

#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

#include <slipway/json.hpp>

#include "base/log/log.hpp"
#include "cli/render/progress_line.hpp"

namespace slipway::cli {

class TerminalUi final : public core::Ui {
 public:
  /// @param json_lines  "-o jsonl": events on standard output, and only log messages on standard error
  TerminalUi(const base::LogSettings& settings, bool json_lines);
  ~TerminalUi() override;

  void log(Level level, const core::Subject& about, const std::string& text) override;
  /// On a terminal that is wide enough (columns_of()), redraws one line, and at its end leaves a final line. With
  /// several parallel steps the line belongs to one step until that step ends or pauses. Elsewhere logs a line when a
  /// step begins, and again every half minute.
  void progress(const std::string& component, const core::Progress& progress) override;
  void step(const core::Subject& about, const std::string& text) override;
  /// Redraws a line, on a terminal only.
  void looking(const std::string& text) override;
  void set_watcher(const std::function<void(const std::string& line)>& watcher) override;

  /// Reports an error that ends a component's part or the command. @param component  empty: the command
  /// @param text  the error for users, several lines
  void failed(const std::string& component, const Error& error, const std::string& text);
  /// Log messages name this generation from now on.
  void set_generation(std::optional<int> number);

 private:
  struct Step {
    explicit Step(const std::string& component) : meter(component) {}
    ProgressMeter meter;
    ProgressMeter::Time told{};     ///< when it was last drawn, logged, or sent as an event
    ProgressMeter::Time watched{};  ///< when the watcher last received it
  };
  void draw(Step& step, std::size_t columns);
  void write(base::LogEvent event);
  /// Writes one line to standard output (output.schema.json, kind Event).
  void event(Json members);
  void clear_bar();

  std::mutex mutex_;
  std::function<void(const std::string& line)> watcher_;  ///< may be empty
  base::Log log_;
  bool json_lines_;
  bool bars_;  ///< draws progress
  bool bar_shown_ = false;
  std::optional<int> generation_;
  std::map<std::pair<std::string, std::string>, Step> steps_;  ///< running steps, by component and step_of(label)
  const Step* drawn_ = nullptr;                                ///< the step whose line is drawn; null: none
};

}  // namespace slipway::cli
