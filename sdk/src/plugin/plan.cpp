// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>

#include <slipway/plan.hpp>

#include "src/text/read.hpp"

namespace slipway {
namespace {

constexpr std::array<std::string_view, 4> kOutcomeNames{"done", "already-done", "waiting", "reboot-required"};
static_assert(kOutcomeNames.size() == static_cast<std::size_t>(Outcome::Kind::reboot_required) + 1);

Error defect(const std::string& what, const Json& value) {
  return Error{.code = ErrorCode::plugin_defect, .what = what + ", got " + canonical(value).substr(0, 200)};
}

}  // namespace

Json to_json(const Plan& plan) {
  Json actions = Json::array();
  for (const Action& action : plan.actions()) actions.push_back(action.json());
  return Json{{"actions", actions}, {"outputs", plan.outputs()}, {"notes", plan.notes()}};
}

Result<Plan> plan_from_json(const Json& value) {
  const Json* actions = detail::member(value, "actions");
  // A reply that is not a plan must not be taken for the empty plan, which would remove the component.
  if (actions == nullptr || !actions->is_array()) return defect("a plan needs 'actions', a list", value);
  Plan plan;
  for (const Json& action : *actions) {
    if (detail::text_at(action, "kind").empty() || detail::text_at(action, "target").empty())
      return defect("an action needs a 'kind' and a 'target'", action);
    auto normal = with_normal_path(Action(action));
    if (!normal)
      return Error{.code = ErrorCode::plugin_defect,
                   .what = "its plan has the action '" + action.value("kind", "") + "', but " + normal.error().what,
                   .next = "report it to the plugin's authors, who " + normal.error().next};
    plan.add(std::move(*normal));
  }
  if (const Json* outputs = detail::member(value, "outputs")) {
    if (!outputs->is_object()) return defect("the 'outputs' of a plan are an object", *outputs);
    for (const auto& [name, output] : outputs->items()) plan.output(name, output);
  }
  for (std::string& note : detail::texts_or_none(detail::member(value, "notes"))) plan.note(std::move(note));
  return plan;
}

Json to_json(const Outcome& outcome) {
  Json value{{"kind", kOutcomeNames.at(static_cast<std::size_t>(outcome.kind))}};
  if (!outcome.reason.empty()) value["reason"] = outcome.reason;
  if (!outcome.holders.empty()) value["holders"] = outcome.holders;
  return value;
}

Result<Outcome> outcome_from_json(const Json& value) {
  const std::string kind = detail::text_at(value, "kind");
  const auto* const found = std::find(kOutcomeNames.begin(), kOutcomeNames.end(), kind);
  if (found == kOutcomeNames.end())
    return defect("an outcome needs a 'kind' (done, already-done, waiting or reboot-required)", value);
  Outcome outcome;
  outcome.kind = static_cast<Outcome::Kind>(found - kOutcomeNames.begin());
  outcome.reason = detail::text_at(value, "reason");
  outcome.holders = detail::texts_or_none(detail::member(value, "holders"));
  return outcome;
}

}  // namespace slipway
