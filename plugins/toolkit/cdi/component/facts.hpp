// SPDX-License-Identifier: Apache-2.0
// plugins/toolkit/cdi/component/facts.hpp - the specs that this machine should have now.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <slipway/host.hpp>
#include <slipway/json.hpp>

#include "toolkit/cdi/component/machine.hpp"
#include "toolkit/cdi/component/settings.hpp"

namespace slipway::toolkit {

struct CdiFacts {
  DriverRoots roots;                               ///< where the driver and its nodes were looked for
  std::map<std::string, nvidia::cdi::Spec> specs;  ///< by path
  std::vector<std::string> notes;                  ///< modes that were left out, and why
  std::vector<LostNote> lost;                      ///< GPUs that were left out
  std::string later;                               ///< no spec can be made here and now, and why; empty: one can
  std::optional<Error> problem;                    ///< one could be made, if this were not wrong
};

/// Looks at the host and asks NVML; never fails: what is wrong is in the facts.
CdiFacts read_cdi_facts(const CdiSettings& settings, const Host& host);

/// Programs that the hooks of a spec start and that are not on this host.
std::set<std::string> missing_hook_programs(const nvidia::cdi::Spec& spec, const Host& host);
/// What that means, in a sentence.
std::string missing_hook_text(const std::string& program);

/// The driver's own nodes of specs, {"path", "major", "minor"}, each once and sorted: those that want a link in
/// /dev/char.
Json linked_nodes(const std::map<std::string, nvidia::cdi::Spec>& specs);

}  // namespace slipway::toolkit
