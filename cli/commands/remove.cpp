// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include <slipway/text.hpp>

#include "app/repair/repair.hpp"
#include "cli/command.hpp"

namespace slipway::cli {
namespace {

/// A component whose work is done at boot owns nothing in an image, and is applied there all the same.
Status check_names(const std::vector<std::string>& names, const std::map<std::string, core::Ownership>& owned,
                   const core::Generation& applied) {
  std::vector<std::string> known;
  for (const auto& [name, ownership] : owned) known.push_back(name);
  for (const auto& [name, plugin] : applied.plugins.items())
    if (!owned.contains(name)) known.push_back(name);
  for (const std::string& name : names) {
    if (std::ranges::count(known, name) != 0) continue;
    return Error{ErrorCode::usage,
                 "slipway owns no component '" + name + "' in this root",
                 "command line",
                 suggestion(name, known, "`slipway status` lists what slipway owns"),
                 {}};
  }
  return {};
}

/// Fails for damage that would make a removal of everything leave files behind for good, or miss files of these
/// components.
/// @param names  empty: all
Status check_records(const std::vector<std::string>& names, core::Session& session) {
  SLIPWAY_TRY(repairs, app::find_repairs(session));  // find_repairs() checks for damage again
  for (const auto& [name, error] : session.state().left_out()) {
    bool is_named = false;
    for (const std::string& component : names) is_named = is_named || name == "components/" + component + ".json";
    if (is_named || (names.empty() && (name.starts_with("components/") || name == "products.json"))) return error;
  }
  for (const app::Repair& repair : repairs)  // an original that the removal would restore
    for (const core::Ownership& record : repair.records)
      if (names.empty() || std::ranges::count(names, record.component) != 0)
        return Error{ErrorCode::corrupt, repair.problem, repair.path(), std::string(core::kRepairAdvice), {}};
  return {};
}

}  // namespace

Result<int> run_remove(const Options& options, TerminalUi& ui) {
  core::watch_stop_signals();
  if (options.arguments.empty() && !options.all)
    return Error{ErrorCode::usage,
                 "remove what?",
                 "command line",
                 "name components (`slipway remove driver`), or everything with --all",
                 {}};
  if (!options.arguments.empty() && options.all)
    return Error{ErrorCode::usage,
                 "--all removes everything, and " + options.arguments.front() + " is named as well",
                 "command line",
                 "leave one of them out",
                 {}};
  if (!options.only.empty() && !options.all)
    return Error{ErrorCode::usage,
                 "--only needs --all here",
                 "command line",
                 "name the components: `slipway remove " + joined(options.only, " ") + "`",
                 {}};
  SLIPWAY_TRY(session, open_session(options, ui));
  SLIPWAY_CHECK(session->state().go_around_damage());
  const std::vector<std::string>& names = options.all ? options.only : options.arguments;
  SLIPWAY_CHECK(check_records(names, *session));
  SLIPWAY_TRY(owned, session->state().ownerships());
  SLIPWAY_TRY(current, core::applied_now(*session));
  core::Generation generation = current.value_or(core::Generation{});
  SLIPWAY_CHECK(check_names(names, owned, generation));
  core::Lock lock;
  if (generation.lock.is_object()) {
    SLIPWAY_TRY(pinned, core::Lock::from_json(generation.lock, "generation " + std::to_string(generation.number)));
    lock = pinned;
  }
  core::HostSpec spec;
  spec.file = generation.spec_file;
  if (!names.empty() && current) {
    Json& components = generation.spec["spec"]["components"];
    for (const std::string& name : names) components.erase(name);
    if (!components.empty()) {
      SLIPWAY_TRY(reduced, core::spec_of(generation, session->plugins()));
      spec = reduced;
    }
  }
  session->set_hardware(spec.hardware);
  // When other records are damaged, only these components are looked at.
  const auto only = session->state().left_out().empty() ? std::vector<std::string>{} : names;
  core::ApplyOptions apply{.plan = {.only = only, .lock = lock, .locked = options.locked}, .verify_failing = false};
  return change_host(*session, options, spec, apply, ui);
}

}  // namespace slipway::cli
