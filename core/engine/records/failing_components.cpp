// SPDX-License-Identifier: Apache-2.0
#include "core/engine/records/failing_components.hpp"

#include <slipway/text.hpp>

#include "core/engine/advice.hpp"
#include "core/engine/unit/units.hpp"

namespace slipway::core {

bool is_unsettled(const PlannedComponent& component) {
  switch (component.state) {
    case ComponentState::failed:
    case ComponentState::waiting:
    case ComponentState::reboot_required:
    case ComponentState::deferred:
      return true;
    case ComponentState::blocked:
      return component.name != kBootComponent;
    default:
      return false;
  }
}

Json failing_record(const PlannedComponent& component, const Findings* findings) {
  Json record{{"state", to_string(component.state)}};
  if (component.leaving) record["removal"] = true;
  if (component.error) {
    record["error"] = text_with_file(*component.error);
    if (!component.error->next.empty()) record["do"] = component.error->next;
    if (component.error->code == ErrorCode::unreachable) record["unreachable"] = true;
  }
  if (component.awaits_source) record["unreachable"] = true;
  if (!component.blocked_by.empty()) record["blocked_by"] = component.blocked_by;
  Findings failed;
  if (findings != nullptr)
    for (const Finding& finding : findings->list())
      if (finding.status == Finding::Status::fail) failed.add(finding);
  if (!failed.list().empty())
    record["findings"] = to_json(failed);
  else if (!component.error && !component.reason.empty())
    record["reason"] = component.reason;
  return record;
}

std::string failing_text(const Json& record) {
  const std::string text = joined(record.value("findings", Json::array()), "; ", [](const Json& finding) {
    return finding.value("name", "") + ": " + finding.value("text", "");
  });
  return text.empty() ? record.value("error", record.value("reason", "")) : text;
}

std::string failing_spec(const Json& record) {
  const std::string file = record.value("spec_file", "");
  if (file.empty()) return {};
  return " -f " + (file == "-" ? "SPEC" : shell_word(file));
}

std::string failed_names(const Findings& findings) {
  std::vector<std::string> names;
  for (const Finding& finding : findings.list())
    if (finding.status == Finding::Status::fail) names.push_back(finding.name);
  return joined(names);
}

Json failing_after(const Json& before, const PlannedRun& run, const std::map<std::string, Findings>& findings) {
  Json after = before;
  for (const PlannedComponent& component : run.components) {
    const auto found = findings.find(component.name);
    if (is_unsettled(component))
      after[component.name] = failing_record(component, found == findings.end() ? nullptr : &found->second);
    // A component that was unchanged and not verified may still fail as before; the boot unit has no verify().
    else if (component.state != ComponentState::ready || found != findings.end() || component.name == kBootComponent)
      after.erase(component.name);
  }
  for (const auto& [name, record] : before.items())
    if (run.find(name) == nullptr && !run.spec.has(name) && !run.spec.left_out.contains(name)) after.erase(name);
  return after;
}

}  // namespace slipway::core
