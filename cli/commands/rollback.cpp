// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <map>

#include <slipway/text.hpp>

#include "cli/command.hpp"

namespace slipway::cli {
namespace {

/// Returns the requested number, else the generation before the active one among those that still exist, since gc may
/// have dropped some.
Result<int> wanted_generation(const Options& options, const core::StateDir& state) {
  SLIPWAY_TRY(current, state.current());
  SLIPWAY_TRY(numbers, state.generations());
  if (!options.arguments.empty()) {
    const std::string& text = options.arguments.front();
    if (const auto number = generation_number(text)) return *number;
    return Error{
        ErrorCode::usage, "'" + text + "' is not a generation", "command line", "`slipway generations` lists them", {}};
  }
  if (!current && numbers.empty())
    return Error{
        ErrorCode::not_found, "nothing is provisioned in " + options.session.root, {}, "run `slipway apply` first", {}};
  const int before = !current ? 0 : current->before != 0 ? current->before : current->number - 1;
  const auto end = std::upper_bound(numbers.begin(), numbers.end(), before);
  if (end == numbers.begin())
    return Error{ErrorCode::not_found,
                 "there is no generation before the active one",
                 {},
                 "`slipway remove --all` removes everything",
                 {}};
  return *std::prev(end);
}

/// A rollback restores a generation completely or not at all: a missing or incompatible plugin stops it.
Error cannot_go_back(const std::map<std::string, Error>& unusable, const core::HostSpec& spec,
                     const core::Generation& generation) {
  Error error = unusable.begin()->second;
  std::vector<std::string> missing;
  for (const auto& [name, problem] : unusable) {
    missing.push_back(name + " " + generation.plugins[name].value("version", ""));
    if (name != unusable.begin()->first) error.details.emplace_back("also", problem.what);
  }
  const std::string number = std::to_string(generation.number);
  error.next = "install " + listed(missing, "and") + ", with which generation " + number + " was applied";
  if (spec.components.empty()) {
    error.next += ", or apply a spec for what is installed";
  } else {
    std::vector<std::string> others;
    for (const auto& [name, section] : spec.components) others.push_back(name);
    error.next += "; or run `slipway rollback " + number + " --only " + joined(others, ",") +
                  "`, which restores the others; or apply a spec for what is installed";
  }
  return error;
}

/// The generation records its spec and packages; the plan is made by the installed plugin.
Status warn_of_other_plugins(core::Session& session, const core::Generation& generation, const Options& options,
                             TerminalUi& ui) {
  SLIPWAY_TRY(others, core::applied_by_other_plugins(session, generation, options.only));
  if (others.empty()) return {};
  const std::string number = std::to_string(generation.number);
  ui.log(core::Ui::Level::warning, "",
         "generation " + number + " was applied with " + listed(others, "and") +
             ": its spec and its packages are restored, with the installed plugins; what the plugins themselves did "
             "differently then (names of files and units, defaults of keys) is not restored. To restore that too, "
             "install what generation " +
             number + " was applied with, and " +
             core::advised("run `slipway rollback " + number + "` again", session.options()));
  return {};
}

}  // namespace

Result<int> run_rollback(const Options& options, TerminalUi& ui) {
  core::watch_stop_signals();
  SLIPWAY_TRY(session, open_session(options, ui));
  SLIPWAY_CHECK(session->state().check_format());
  SLIPWAY_TRY(number, wanted_generation(options, session->state()));
  SLIPWAY_TRY(generation, session->state().generation(number));
  SLIPWAY_TRY(spec, core::spec_of(generation, session->plugins()));
  std::map<std::string, Error> unusable = spec.unusable;
  if (!options.only.empty())
    std::erase_if(unusable, [&](const auto& each) { return std::ranges::count(options.only, each.first) == 0; });
  if (!unusable.empty()) return cannot_go_back(unusable, spec, generation);
  SLIPWAY_CHECK(warn_of_other_plugins(*session, generation, options, ui));
  SLIPWAY_TRY(lock, core::Lock::from_json(generation.lock, "generation " + std::to_string(number)));
  session->set_hardware(spec.hardware);
  SLIPWAY_CHECK(take_kernels(*session, generation));
  core::ApplyOptions apply{
      .plan = {.only = options.only, .lock = lock, .locked = options.locked, .back_to = generation}, .target = number};
  return change_host(*session, options, spec, apply, ui);
}

}  // namespace slipway::cli
