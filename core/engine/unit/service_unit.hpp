// SPDX-License-Identifier: Apache-2.0
// core/engine/unit/service_unit.hpp - what an apply leaves so that systemd runs a component's service: a unit and its
// section.
#pragma once

#include <string>

#include <slipway/plan.hpp>

#include "core/engine/session.hpp"

namespace slipway::core {

/// Adds to the plan of a component that has a service with this section: the file /etc/slipway/services/NAME.json, and
/// the unit slipway-NAME.service, which is restarted when the file changes. Errors: the plugin cannot be read.
Status add_service_unit(Session& session, const Manifest& manifest, const Json& section, Plan& plan);

/// The section in that file. Errors: `not_found`, `corrupt`.
Result<Json> read_service_section(const Session& session, const std::string& component);

}  // namespace slipway::core
