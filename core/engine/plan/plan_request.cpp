// SPDX-License-Identifier: Apache-2.0
#include "core/engine/plan/plan_request.hpp"

#include <slipway/text.hpp>

#include "core/engine/unit/units.hpp"

namespace slipway::core {
namespace {

Json target_of(const Session& session) {
  const auto kernel = session.host().kernel_release();
  const HostConfig& config = session.host_config();
  return {{"kernel_release", kernel ? *kernel : ""},
          {"kernel_problem", kernel ? Json{} : to_json(kernel.error())},
          {"live", config.live},
          {"arch", session.host().arch()},
          {"hardware", config.hardware},
          {"slipway", unit_program(session)}};
}

/// Marks every layer whose manifest is pinned by the lock or by a digest in the spec, and notes it in the new lock.
void pin_layers(Plan& plan, const std::string& component, const std::map<std::string, NamedSource>& sources,
                const Json& catalogues, const Lock& old_lock, Lock& lock) {
  std::map<std::string, std::map<std::string, Json>> used;  // by spec key, then digest
  Plan pinned;
  for (const Action& action : plan.actions()) {
    Json value = action.json();
    if (!value.contains("layers")) {
      pinned.add(action);
      continue;
    }
    for (Json& layer : value["layers"]) {
      const std::string key = layer.value("source", "");
      const std::string digest = layer.value("manifest", "");
      for (const Json& entry : catalogues.value(key, Json::object()).value("entries", Json::array()))
        if (entry.value("digest", "") == digest) used[key][digest] = entry;
      const auto source = sources.find(key);
      if (source == sources.end()) continue;
      for (const Json& entry : old_lock.entries(component, key, source->second.source))
        if (entry.value("digest", "") == digest) layer["pinned"] = true;
    }
    pinned.add(Action(std::move(value)));
  }
  for (const auto& [key, entries] : used) {
    Json list = Json::array();
    for (const auto& [digest, entry] : entries) list.push_back(entry);
    lock.pin(component, key, sources.at(key).source, list);
  }
  for (const auto& [name, value] : plan.outputs().items()) pinned.output(name, value);
  for (const std::string& note : plan.notes()) pinned.note(note);
  plan = std::move(pinned);
}

/// "registry.example/driver, with digest sha256:…, ca and auth", of a source of the spec.
std::string source_words(const Json& source) {
  std::vector<std::string> keys;
  if (!source.is_object()) return source_address(source);
  for (const auto& [key, value] : source.items()) {
    if (key == "repository") continue;
    const bool is_shown = (key == "digest" || key == "trust") && value.is_string();
    keys.push_back(is_shown ? key + " " + value.get<std::string>() : key);
  }
  return source_address(source) + (keys.empty() ? "" : ", with " + listed(keys, "and"));
}

/// Checks that the lock was made with the same sources: another address means a new choice.
Status compare_with_lock(const PlanRequest& asking, const std::map<std::string, NamedSource>& sources) {
  for (const auto& [key, named] : sources) {
    const auto other = asking.options.lock.other_source(asking.name, key, named.source);
    if (!other) continue;
    const bool moved = source_address(*other) != source_address(named.source);
    const std::string locked = moved ? source_address(*other) : source_words(*other);
    const std::string wanted = moved ? source_address(named.source) : source_words(named.source);
    const std::string& origin = asking.options.lock.origin();
    const std::string what = "the lock" + (origin.empty() ? "" : " (" + origin + ")") + " names the packages of " +
                             asking.name + " as those of " + locked + ", and the spec those of " + wanted;
    if (asking.options.locked)
      return Error{
          ErrorCode::conflict,
          what,
          "spec.components." + asking.name + "." + key,
          "name the lock's source in the spec, or run the command once without --locked, so that the lock follows",
          {}};
    asking.session.ui().log(Ui::Level::info, {asking.name, "plan"}, what + ": they are chosen again");
  }
  return {};
}

}  // namespace

Result<Plan> ask_for_plan(const PlanRequest& asking, const std::map<std::string, NamedSource>& sources, Lock& lock) {
  SLIPWAY_CHECK(compare_with_lock(asking, sources));
  CatalogueReading reading;
  while (true) {
    SLIPWAY_TRY(catalogues, read_catalogues(asking.session, asking.name, sources, asking.options.lock, reading));
    const Json inputs{{"target", target_of(asking.session)}, {"outputs", asking.outputs}, {"catalogues", catalogues}};
    auto reply = asking.session.call(asking.name, "plan",
                                     {{"spec", asking.section}, {"facts", to_json(asking.facts)}, {"inputs", inputs}},
                                     kPlanLimit);
    const bool asks_for_more = !reply && reply.error().code == ErrorCode::needs_catalogue;
    if (asks_for_more && !asking.options.locked && reading.widen(reply.error())) continue;
    if (asks_for_more) {
      Error error = reply.error();
      error.code = ErrorCode::not_found;
      error.details.clear();  // they are for slipway, not for users
      if (asking.options.locked)
        error.next =
            "run `slipway apply` once with --lock FILE and without --locked: it adds the missing entries to the lock";
      return error;
    }
    if (!reply) return std::move(reply).error();
    SLIPWAY_TRY(plan, plan_from_json(*reply));
    pin_layers(plan, asking.name, sources, catalogues, asking.options.lock, lock);
    return plan;
  }
}

}  // namespace slipway::core
