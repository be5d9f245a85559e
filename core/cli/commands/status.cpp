// SPDX-License-Identifier: Apache-2.0
#include <sstream>

#include "core/cli/command.hpp"
#include "core/engine/recovery.hpp"

namespace slipway::core {

Result<int> run_status(const Options& options, TerminalUi& ui) {
  SLIPWAY_TRY(session, open_session(options, ui));
  StateDir& state = session->state();
  SLIPWAY_CHECK(state.check_format());
  SLIPWAY_TRY(owned, state.ownerships());
  SLIPWAY_TRY(current, state.current());
  SLIPWAY_TRY(generations, state.generations());
  SLIPWAY_TRY(unfinished, read_unfinished(*session));

  Json components = Json::object();
  std::ostringstream text;
  if (!current)
    text << "Nothing is provisioned in " << options.session.root << ".\n";
  else
    text << "Generation " << current->number << " of " << generations.size() << " is in force, from "
         << current->spec_file << ".\n";
  for (const auto& [name, ownership] : owned) {
    components[name] = {{"holds", ownership.items.size()}, {"outputs", ownership.outputs}};
    text << "  " << name << ": holds " << ownership.items.size() << " things";
    if (!ownership.outputs.empty()) text << ", " << canonical(ownership.outputs);
    text << '\n';
  }
  if (unfinished.recovery) text << "An apply was cut off: the next `slipway apply` undoes its open changes first.\n";
  for (const std::string& trigger : unfinished.owed) text << "Still owed: " << trigger << '\n';
  const Json value = envelope("Status", {{"components", components},
                                         {"generation", current ? current->number : 0},
                                         {"generations", generations},
                                         {"owed", unfinished.owed},
                                         {"recovery", unfinished.recovery}});
  print(options.output == "text" ? text.str() : json_text(value, options.output));
  return kExitDone;
}

}  // namespace slipway::core
