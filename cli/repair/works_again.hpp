// SPDX-License-Identifier: Apache-2.0
// cli/repair/works_again.hpp - components that did not work after the last apply, and do by the time that verify or
// doctor looks: what is remembered of them is not true any more.
#pragma once

#include <map>
#include <string>

#include <slipway/findings.hpp>

#include "core/engine/session.hpp"
#include "core/spec/document.hpp"

namespace slipway::core {

/// Forgets those failures, as an apply does that finds the component working: status and plan agree with the findings
/// from then on. Where this user or an apply under way does not let it, all stays as it is, and the next one does it.
/// @param before    what was remembered before anything was looked at
/// @param findings  of components of this spec, passed as a whole
void forget_what_works(Session& session, const HostSpec& spec, const Json& before,
                       const std::map<std::string, Findings>& findings);

}  // namespace slipway::core
