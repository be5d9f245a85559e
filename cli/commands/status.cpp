// SPDX-License-Identifier: Apache-2.0
#include <filesystem>
#include <sstream>

#include <slipway/text.hpp>

#include "cli/command.hpp"
#include "cli/edits.hpp"
#include "core/engine/apply/failing.hpp"
#include "core/engine/apply/recovery.hpp"
#include "core/engine/unit/units.hpp"
#include "core/engine/verify/advice.hpp"
#include "core/engine/verify/services.hpp"

namespace slipway::core {
namespace {

std::string service_text(const ServiceState& state) {
  std::string text = "    service: " + to_text(state) + "\n";
  for (const std::string& reason : state.reasons) text += "      " + reason + "\n";
  return text;
}

/// What `slipway apply` needs besides, where the root has no spec of its own.
std::string the_spec(const Host& host) { return host.exists("/etc/slipway/host.yaml") ? "" : " -f SPEC"; }

/// "owns 11 things: flavour open, version 535.261.03"
std::string owned_text(const Ownership& ownership) {
  const std::size_t count = ownership.items.size();
  std::string text = "owns " + std::to_string(count) + (count == 1 ? " thing" : " things");
  std::string separator = ": ";
  for (const auto& [name, value] : ownership.outputs.items()) {
    text += separator + name + " " + (value.is_string() ? value.get<std::string>() : canonical(value));
    separator = ", ";
  }
  return text;
}

/// A file in the working folder by its name alone.
std::string seen_from_here(const std::string& file) {
  std::error_code problem;
  const std::filesystem::path path(file);
  const bool is_here = path.has_parent_path() && path.parent_path() == std::filesystem::current_path(problem);
  return is_here ? path.filename().string() : file;
}

/// Edits of what the component owns: those that are kept, and those that were accepted.
std::string edits_of(Session& session, const Ownership& ownership, const Json& accepted, Json& component) {
  std::vector<std::string> kept;
  std::vector<std::string> targets;
  for (const KeptEdit& each : kept_edits(session, ownership, accepted)) kept.push_back(each.edit.path);
  for (const auto& [item, acceptance] : accepted.items()) targets.push_back(item.substr(item.find(' ') + 1));
  if (!kept.empty()) component["edits"] = kept;
  if (!targets.empty()) component["accepted"] = targets;
  std::string text = kept.empty() ? "" : "    kept as somebody else left it: " + listed(kept, "and") + "\n";
  return text + (targets.empty() ? "" : "    accepted as somebody else left it: " + listed(targets, "and") + "\n");
}

/// How the last apply ended for the component; empty: well.
std::string failing_line(const Json& failing, const std::string& name) {
  if (!failing.contains(name)) return {};
  const Json& record = failing[name];
  return "    " + record.value("state", "") + " at the last apply: " + failing_text(record) + "\n";
}

}  // namespace

Result<int> run_status(const Options& options, TerminalUi& ui) {
  SLIPWAY_TRY(session, open_session(options, ui));
  StateDir& state = session->state();
  SLIPWAY_CHECK(state.go_around_damage());
  SLIPWAY_TRY(owned, state.ownerships());
  SLIPWAY_TRY(current, state.current());
  SLIPWAY_TRY(generations, state.generations());
  SLIPWAY_TRY(unfinished, read_unfinished(*session));
  SLIPWAY_TRY(failing, state.failing());

  Json damaged = Json::array();
  for (const auto& [name, error] : state.left_out())
    damaged.push_back({{"path", std::string(kStateDir) + "/" + name}, {"problem", error.what}});
  if (unfinished.damaged)
    damaged.push_back({{"path", unfinished.damaged->where}, {"problem", unfinished.damaged->what}});
  const auto running = ask_services(*session);
  Json components = Json::object();
  std::ostringstream text;
  if (!current && owned.empty() && damaged.empty())
    text << "Nothing is provisioned in " << options.session.root << ".\n";
  else if (!current)
    text << "No generation is in force in " << options.session.root
         << (state.leaves_out("generations/current") ? " that can be read" : "") << ". Installed so far:\n";
  else
    text << "Generation " << current->number << " is in force, from " << seen_from_here(current->spec_file)
         << (generations.size() > 1 ? "; `slipway generations` lists " + std::to_string(generations.size()) : "")
         << ".\n";
  for (const auto& [name, ownership] : owned) {
    components[name] = {{"owns", ownership.items.size()}, {"outputs", ownership.outputs}};
    const Json accepted = current ? current->accepted.value(name, Json::object()) : Json::object();
    text << "  " << name << ": " << owned_text(ownership) << '\n' << failing_line(failing, name);
    text << edits_of(*session, ownership, accepted, components[name]);
    if (const auto service = running.find(name); service != running.end()) text << service_text(service->second);
  }
  for (const auto& [name, service] : running) {
    components[name]["service"] = to_json(service);
    if (!owned.contains(name))
      text << "  " << name << ": owns nothing\n" << failing_line(failing, name) << service_text(service);
  }
  for (const auto& [name, record] : failing.items()) {
    components[name]["failing"] = record;
    if (!owned.contains(name) && !running.contains(name))
      text << "  " << name << ": owns nothing\n" << failing_line(failing, name);
  }
  if (const std::string problem = boot_failure(session->host()); !problem.empty()) {
    components[kBootComponent]["failing"] = {{"state", "failed"}, {"reason", problem}};
    text << problem << ": see `journalctl -u slipway-boot.service`\n";
  }
  if (!unfinished.at_work.empty()) text << "Another slipway is changing this root: " << unfinished.at_work << '\n';
  if (unfinished.recovery)
    text << advised("An apply was cut off: the next `slipway apply" + the_spec(session->host()) +
                        "` undoes its open changes first.\n",
                    session->options());
  for (const std::string& trigger : unfinished.pending) text << "Still pending: " << trigger << '\n';
  for (const Json& file : damaged)
    text << "Damaged: " << file["path"].get<std::string>() << ": " << file["problem"].get<std::string>() << '\n';
  if (!damaged.empty()) text << "  do: " << advised(std::string(kRepairAdvice), session->options()) << '\n';
  const Json value = envelope("Status", {{"components", components},
                                         {"damaged", damaged},
                                         {"generation", current ? current->number : 0},
                                         {"generations", generations},
                                         {"pending", unfinished.pending},
                                         {"recovery", unfinished.recovery}});
  if (options.output == "text")
    print_wrapped(text.str());
  else
    print(json_text(value, options.output));
  return damaged.empty() ? kExitDone : kExitError;
}

}  // namespace slipway::core
