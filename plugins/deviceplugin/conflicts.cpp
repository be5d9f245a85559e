// SPDX-License-Identifier: Apache-2.0
#include "deviceplugin/conflicts.hpp"

namespace slipway::deviceplugin {

std::vector<Conflict> conflicts_in(const Json& status) {
  std::vector<Conflict> conflicts;
  const auto found = status.find("conflicts");
  if (found == status.end() || !found->is_array()) return conflicts;
  for (const Json& each : *found)
    if (each.is_object())
      conflicts.push_back(
          {each.value("device", ""), each.value("resource", ""), each.value("text", ""), each.value("remedy", "")});
  return conflicts;
}

void add_conflict_findings(const Json& status, Findings& findings) {
  for (const Conflict& each : conflicts_in(status)) findings.warning("deviceplugin.sharing", each.text, each.remedy);
}

}  // namespace slipway::deviceplugin
