// SPDX-License-Identifier: Apache-2.0
// core/engine/verify/doctor.hpp - what is wrong here, and what helps: verify, known failure patterns, and what stops a
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

/// For every component of the spec: what verify finds, its plugin's known failure patterns (which take the place of a
/// finding of verify's of the same name), and why it cannot be planned, if so. Changes nothing.
Result<std::map<std::string, Findings>> doctor_run(Session& session, const HostSpec& spec,
                                                   const DoctorOptions& options);

}  // namespace slipway::core
