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
  DriverRoots roots;                               ///< where the driver and its nodes were searched
  std::map<std::string, nvidia::cdi::Spec> specs;  ///< by path
  std::vector<std::string> notes;                  ///< modes that were left out, and why
  std::vector<LostNote> lost;                      ///< GPUs that were left out
  std::string later;                               ///< why no spec can be made now; empty: one can
  std::optional<Error> problem;                    ///< an error that keeps a spec from being made
};

/// Reads the host and NVML; never fails: errors are in the facts.
CdiFacts read_cdi_facts(const CdiSettings& settings, const Host& host);

/// Returns programs that the hooks of a spec start and that this host lacks.
std::set<std::string> missing_hook_programs(const nvidia::cdi::Spec& spec, const Host& host);
/// Returns a sentence about the consequence.
std::string missing_hook_text(const std::string& program);

/// Returns the driver's own nodes in specs that need a link in /dev/char, {"path", "major", "minor"}, each once and
/// sorted.
Json linked_nodes(const std::map<std::string, nvidia::cdi::Spec>& specs);

}  // namespace slipway::toolkit
