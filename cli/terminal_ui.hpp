// SPDX-License-Identifier: Apache-2.0
// cli/terminal_ui.hpp - what a command says goes to the log, and progress to a bar where standard error is a terminal.
// With
// "-o jsonl" programs read along: steps, progress and what is logged are lines on standard output, before the result.
#pragma once

#include <chrono>
#include <mutex>
#include <optional>
#include <string>

#include <slipway/json.hpp>

#include "core/engine/ui.hpp"
#include "log/log.hpp"

namespace slipway::core {

class TerminalUi final : public Ui {
 public:
  /// @param json_lines  "-o jsonl": events on standard output, and only what is logged on standard error
  TerminalUi(const LogSettings& settings, bool json_lines);
  ~TerminalUi() override;

  void log(Level level, const Subject& about, const std::string& text) override;
  void progress(const std::string& component, const std::string& label, std::uint64_t done,
                std::uint64_t total) override;
  void step(const Subject& about, const std::string& text) override;

  /// An error that ends a component's part or the command. @param component  empty: the command
  /// @param text  the error for people, several lines
  void failed(const std::string& component, const Error& error, const std::string& text);
  /// What is logged from now on names this generation.
  void set_generation(std::optional<int> number);

 private:
  void write(LogEvent event);
  /// One line on standard output (output.schema.json, kind Event).
  void event(Json members);
  void clear_bar();

  std::mutex mutex_;
  Log log_;
  bool json_lines_;
  bool bars_;  ///< progress is drawn
  bool bar_shown_ = false;
  std::optional<int> generation_;
  std::string last_label_;
  std::chrono::steady_clock::time_point last_draw_{};
};

}  // namespace slipway::core
