// SPDX-License-Identifier: Apache-2.0

#include <slipway/text.hpp>

#include "cli/command.hpp"
#include "core/engine/apply/stop.hpp"

namespace slipway::core {
namespace {

Status check_names(const std::vector<std::string>& names, const std::map<std::string, Ownership>& owned) {
  std::vector<std::string> known;
  for (const auto& [name, ownership] : owned) known.push_back(name);
  for (const std::string& name : names) {
    if (owned.contains(name)) continue;
    return Error{ErrorCode::usage,
                 "slipway owns no component '" + name + "' in this root",
                 "command line",
                 suggestion(name, known, "`slipway status` lists what it owns"),
                 {}};
  }
  return {};
}

}  // namespace

Result<int> run_remove(const Options& options, TerminalUi& ui) {
  watch_stop_signals();
  if (options.arguments.empty() && !options.all)
    return Error{ErrorCode::usage,
                 "remove what?",
                 "command line",
                 "name components (`slipway remove driver`), or everything with --all",
                 {}};
  if (!options.arguments.empty() && options.all)
    return Error{ErrorCode::usage,
                 "--all removes everything, and " + options.arguments.front() + " is named besides",
                 "command line",
                 "leave one of them out",
                 {}};
  SLIPWAY_TRY(session, open_session(options, ui));
  SLIPWAY_CHECK(session->state().check_format());
  SLIPWAY_TRY(owned, session->state().ownerships());
  SLIPWAY_CHECK(check_names(options.arguments, owned));
  SLIPWAY_TRY(current, session->state().current());
  Generation generation = current.value_or(Generation{});
  Lock lock;
  if (generation.lock.is_object()) {
    SLIPWAY_TRY(pinned, Lock::from_json(generation.lock, "generation " + std::to_string(generation.number)));
    lock = pinned;
  }
  HostSpec spec;
  spec.file = generation.spec_file;
  if (!options.all && current) {
    Json& components = generation.spec["spec"]["components"];
    for (const std::string& name : options.arguments) components.erase(name);
    if (!components.empty()) {
      SLIPWAY_TRY(reduced, host_spec_from_json(generation.spec, generation.spec_file, session->plugins()));
      spec = reduced;
    }
  }
  session->set_hardware(spec.hardware);
  return change_host(*session, options, spec, {{{}, lock, options.locked}, {}, false}, ui);
}

}  // namespace slipway::core
