// SPDX-License-Identifier: Apache-2.0
#include "core/engine/model/relations.hpp"

namespace slipway::core {
namespace {

bool has_type(const Json& value, const std::string& type) {
  if (value.is_null()) return true;  // not known yet
  if (type == "string") return value.is_string();
  if (type == "integer") return value.is_number_integer();
  if (type == "boolean") return value.is_boolean();
  return type == "any";
}

}  // namespace

Json outputs_before(const PlannedRun& run, const std::string& name) {
  Json all = run.handed_on;
  for (const PlannedComponent& component : run.components) {
    if (component.name == name) break;
    // A component that could not be checked or changed stays as applied, with its outputs.
    const bool stays = component.state == ComponentState::failed || component.state == ComponentState::blocked;
    if (component.leaving) continue;
    all[component.name] =
        stays ? run.recorded.value(component.name, component.plan.outputs()) : component.plan.outputs();
  }
  return all;
}

Status record_outputs(Session& session, const PlannedRun& run) {
  SLIPWAY_TRY(owned, session.state().ownerships());
  int order = 0;
  for (const PlannedComponent& component : run.components) {
    ++order;
    if (component.state != ComponentState::ready || component.leaving) continue;
    const Ownership* earlier = owned_by(component.name, owned);
    const Json outputs = component.plan.outputs();
    if (earlier != nullptr ? earlier->outputs == outputs : outputs.empty()) continue;
    Ownership record = earlier != nullptr ? *earlier : Ownership{component.name, order, {}, {}};
    record.outputs = outputs;
    SLIPWAY_CHECK(session.state().write(record));
  }
  return {};
}

Status check_outputs(const Manifest& manifest, const Json& outputs) {
  for (const auto& [name, value] : outputs.items()) {
    const auto declared = manifest.outputs.find(name);
    if (declared != manifest.outputs.end() && has_type(value, declared->second)) continue;
    const std::string problem = declared == manifest.outputs.end()
                                    ? "which its manifest does not declare"
                                    : "which is not of the type " + declared->second + ", as its manifest says";
    return Error{ErrorCode::plugin_defect,
                 manifest.component + " gives the output '" + name + "' = " + canonical(value) + ", " + problem,
                 {},
                 "report it to the plugin's authors",
                 {}};
  }
  return {};
}

}  // namespace slipway::core
