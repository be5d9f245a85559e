// SPDX-License-Identifier: Apache-2.0
// core/engine/verify/doctor.hpp - finds problems and their remedies: verify, known failure patterns, and errors of the
// plan.
#pragma once

#include <map>
#include <string>
#include <vector>

#include <slipway/findings.hpp>

#include "core/engine/model/lockfile.hpp"
#include "core/engine/session.hpp"
#include "core/spec/document.hpp"

namespace slipway::core {

struct DoctorOptions {
  std::vector<std::string> only;
  Lock lock;
};

/// Returns for every component of the spec the findings of verify, its plugin's known failure patterns (which replace
/// findings of verify with the same name), and the reason when it cannot be planned. Changes nothing.
Result<std::map<std::string, Findings>> doctor_run(Session& session, const HostSpec& spec,
                                                   const DoctorOptions& options);

}  // namespace slipway::core
