// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include <slipway/text.hpp>

#include "cli/command.hpp"
#include "core/engine/apply/generations.hpp"
#include "core/engine/apply/stop.hpp"

namespace slipway::core {
namespace {

/// The number asked for, else the one before the generation in force: of those that there are still, where gc has
/// dropped that.
Result<int> wanted_generation(const Options& options, const StateDir& state) {
  SLIPWAY_TRY(current, state.current());
  SLIPWAY_TRY(numbers, state.generations());
  if (!options.arguments.empty()) {
    const std::string& text = options.arguments.front();
    if (const auto number = generation_number(text)) return *number;
    return Error{
        ErrorCode::usage, "'" + text + "' is no generation", "command line", "`slipway generations` lists them", {}};
  }
  if (!current && numbers.empty())
    return Error{ErrorCode::not_found,
                 "nothing is provisioned in " + options.session.root,
                 {},
                 "`slipway apply` comes first",
                 {}};
  const int before = !current ? 0 : current->before != 0 ? current->before : current->number - 1;
  const auto end = std::upper_bound(numbers.begin(), numbers.end(), before);
  if (end == numbers.begin())
    return Error{ErrorCode::not_found,
                 "there is no generation before the one in force",
                 {},
                 "`slipway remove --all` takes everything away",
                 {}};
  return *std::prev(end);
}

/// A rollback restores a generation completely or not at all: a missing or incompatible plugin stops it.
Error cannot_go_back(const HostSpec& spec, const Generation& generation) {
  Error error = spec.unusable.begin()->second;
  std::vector<std::string> wanted;
  for (const auto& [name, problem] : spec.unusable) {
    wanted.push_back(name + " " + generation.plugins[name].value("version", ""));
    if (name != spec.unusable.begin()->first) error.details.emplace_back("also", problem.what);
  }
  error.next = "install " + listed(wanted, "and") + " again, which generation " + std::to_string(generation.number) +
               " was applied with, or apply a spec for what is installed";
  return error;
}

}  // namespace

Result<int> run_rollback(const Options& options, TerminalUi& ui) {
  watch_stop_signals();
  SLIPWAY_TRY(session, open_session(options, ui));
  SLIPWAY_CHECK(session->state().check_format());
  SLIPWAY_TRY(number, wanted_generation(options, session->state()));
  SLIPWAY_TRY(generation, session->state().generation(number));
  SLIPWAY_TRY(spec, spec_of(generation, session->plugins()));
  if (!spec.unusable.empty()) return cannot_go_back(spec, generation);
  SLIPWAY_TRY(lock, Lock::from_json(generation.lock, "generation " + std::to_string(number)));
  session->set_hardware(spec.hardware);
  SLIPWAY_CHECK(take_kernels(*session, generation));
  ApplyOptions apply{.plan = {.only = options.only, .lock = lock, .locked = options.locked, .back_to = generation},
                     .target = number};
  return change_host(*session, options, spec, apply, ui);
}

}  // namespace slipway::core
