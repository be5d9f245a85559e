// SPDX-License-Identifier: Apache-2.0
// cli/terminal_ui.hpp - what a command says goes to the log, and progress to a line with a bar where standard error is
// a terminal. With "-o jsonl" programs read along: steps, progress and what is logged are lines on standard output,
// before the result.
#pragma once

#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

#include <slipway/json.hpp>

#include "base/log/log.hpp"
#include "cli/render/progress_line.hpp"
#include "core/engine/ui.hpp"

namespace slipway::core {

class TerminalUi final : public Ui {
 public:
  /// @param json_lines  "-o jsonl": events on standard output, and only what is logged on standard error
  TerminalUi(const LogSettings& settings, bool json_lines);
  ~TerminalUi() override;

  void log(Level level, const Subject& about, const std::string& text) override;
  /// On a terminal that is wide enough (columns_of()), a line that is drawn over and over, and at its end one that
  /// stays. Of several steps at a time it is one's until that ends or falls silent. Elsewhere a line of the log when a
  /// step begins, and again every half minute.
  void progress(const std::string& component, const Progress& progress) override;
  void step(const Subject& about, const std::string& text) override;
  /// On a terminal alone, a line that is drawn over.
  void looking(const std::string& text) override;
  void set_watcher(const std::function<void(const std::string& line)>& watcher) override;

  /// An error that ends a component's part or the command. @param component  empty: the command
  /// @param text  the error for people, several lines
  void failed(const std::string& component, const Error& error, const std::string& text);
  /// What is logged from now on names this generation.
  void set_generation(std::optional<int> number);

 private:
  struct Step {
    explicit Step(const std::string& component) : meter(component) {}
    ProgressMeter meter;
    ProgressMeter::Time told{};     ///< when it was last drawn, logged, or was an event
    ProgressMeter::Time watched{};  ///< when the watcher last got it
  };
  void draw(Step& step, std::size_t columns);
  void write(LogEvent event);
  /// One line on standard output (output.schema.json, kind Event).
  void event(Json members);
  void clear_bar();

  std::mutex mutex_;
  std::function<void(const std::string& line)> watcher_;  ///< may be empty
  Log log_;
  bool json_lines_;
  bool bars_;  ///< progress is drawn
  bool bar_shown_ = false;
  std::optional<int> generation_;
  std::map<std::pair<std::string, std::string>, Step> steps_;  ///< under way, by component and step_of() the label
  const Step* drawn_ = nullptr;                                ///< the one whose line is drawn; null: none's
};

}  // namespace slipway::core
