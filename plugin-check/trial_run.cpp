// SPDX-License-Identifier: Apache-2.0
#include "plugin-check/trial_run.hpp"

#include <functional>
#include <utility>

#include <slipway/process/child_process.hpp>

namespace slipway::plugin_check {
namespace {

/// Passes on the complete lines of a stream, and at its end the rest.
class Lines {
 public:
  explicit Lines(std::function<void(const std::string& line)> take) : take_(std::move(take)) {}
  void add(std::string_view bytes) {
    rest_ += bytes;
    for (std::size_t end = rest_.find('\n'); end != std::string::npos; end = rest_.find('\n')) {
      take_(rest_.substr(0, end + 1));
      rest_.erase(0, end + 1);
    }
  }
  void end() {
    if (!rest_.empty()) take_(std::exchange(rest_, {}));
  }

 private:
  std::function<void(const std::string& line)> take_;
  std::string rest_;
};

/// Handles a line of standard output with -o jsonl: counts steps, keeps warnings, and takes a line that is not an event
/// as the result.
void take_output(const std::string& line, TrialRun& run) {
  const Json value = Json::parse(line, nullptr, false);
  if (!value.is_object()) return;
  if (value.value("kind", "") != "Event") {
    run.result = value;
    return;
  }
  const std::string type = value.value("type", "");
  if (type == "step") ++run.steps;
  if (type == "warning") run.messages += "warning: " + value.value("text", "") + "\n";
}

}  // namespace

Result<TrialRun> run_trial(const TrialCommand& command) {
  TrialRun run;
  run.result = Json::object();
  Lines printed([&](const std::string& line) { take_output(line, run); });
  Lines messages([&](const std::string& line) { run.messages += line; });
  const auto stop = [&] { return command.kill_at_step != 0 && run.steps >= command.kill_at_step; };
  SLIPWAY_TRY(child, run_child({.argv = command.argv, .environment = command.environment},
                               {.limit = command.limit,
                                .to_last_writer = true,  // the next command must not meet processes of a killed one
                                .stop = stop,
                                .on_output = [&](std::string_view part) { printed.add(part); },
                                .on_errors = [&](std::string_view part) { messages.add(part); }}));
  printed.end();
  messages.end();
  run.killed = stop();
  run.exit_code = exit_status_of(child.status);
  if (child.end == ChildResult::End::timed_out)
    return Error{
        ErrorCode::timed_out,
        "slipway " + command.argv.at(1) + " had not ended after " + std::to_string(command.limit.count()) + " s",
        command.argv.front(),
        "run it by hand with -v to see where it hangs",
        {{"messages", run.messages}}};
  return run;
}

}  // namespace slipway::plugin_check
