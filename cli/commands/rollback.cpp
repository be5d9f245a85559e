// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <charconv>

#include "cli/command.hpp"
#include "core/engine/apply/stop.hpp"

namespace slipway::core {
namespace {

/// The number asked for, else the generation before the one in force.
Result<int> wanted_generation(const Options& options, const StateDir& state) {
  SLIPWAY_TRY(current, state.current());
  SLIPWAY_TRY(numbers, state.generations());
  if (!options.arguments.empty()) {
    const std::string& text = options.arguments.front();
    int number = 0;
    const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (problem == std::errc{} && end == text.data() + text.size()) return number;
    return Error{ErrorCode::usage,
                 "'" + text + "' is no generation",
                 "command line",
                 "`slipway status -o json` lists the generations",
                 {}};
  }
  const auto before = current ? std::lower_bound(numbers.begin(), numbers.end(), current->number) : numbers.begin();
  if (!current || before == numbers.begin())
    return Error{ErrorCode::not_found,
                 "there is no generation before the one in force",
                 {},
                 "`slipway remove --all` takes everything away",
                 {}};
  return *std::prev(before);
}

}  // namespace

Result<int> run_rollback(const Options& options, TerminalUi& ui) {
  watch_stop_signals();
  SLIPWAY_TRY(session, open_session(options, ui));
  SLIPWAY_CHECK(session->state().check_format());
  SLIPWAY_TRY(number, wanted_generation(options, session->state()));
  SLIPWAY_TRY(generation, session->state().generation(number));
  SLIPWAY_TRY(spec, host_spec_from_json(generation.spec, generation.spec_file, session->plugins()));
  SLIPWAY_TRY(lock, Lock::from_json(generation.lock, "generation " + std::to_string(number)));
  session->set_hardware(spec.hardware);
  SLIPWAY_CHECK(take_kernels(*session, generation));
  return change_host(*session, options, spec,
                     {{.only = options.only, .lock = lock, .locked = options.locked, .back_to = generation}}, ui);
}

}  // namespace slipway::core
