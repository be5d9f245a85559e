// SPDX-License-Identifier: Apache-2.0
// cli/terminal_ui.hpp - logs and progress on standard error: a bar on a terminal, plain lines elsewhere. With
// "-o jsonl" programs read along: steps, progress and what is logged are lines on standard output, before the result.
#pragma once

#include <chrono>
#include <mutex>
#include <string>

#include <slipway/json.hpp>

#include "core/engine/ui.hpp"

namespace slipway::core {

class TerminalUi final : public Ui {
 public:
  /// @param json_lines  "-o jsonl": events on standard output, and only what is logged on standard error
  TerminalUi(int verbosity, bool json_lines);
  ~TerminalUi() override;

  void log(Level level, const std::string& component, const std::string& text) override;
  void progress(const std::string& component, const std::string& label, std::uint64_t done,
                std::uint64_t total) override;
  void step(const std::string& component, const std::string& text) override;

 private:
  void line(const std::string& component, const std::string& text);
  /// One line on standard output (output.schema.json, kind Event).
  void event(Json members);
  void clear_bar();

  std::mutex mutex_;
  int verbosity_;
  bool json_lines_;
  bool terminal_;
  bool bar_shown_ = false;
  std::string last_label_;
  std::chrono::steady_clock::time_point last_draw_{};
};

}  // namespace slipway::core
