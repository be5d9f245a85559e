// SPDX-License-Identifier: Apache-2.0
// core/engine/unit/units.hpp - the systemd units that an apply installs: one that completes a boot, and one for each
// service.
#pragma once

#include <string>

#include <slipway/plan.hpp>

#include "core/engine/model/planned.hpp"
#include "core/engine/session.hpp"
#include "core/spec/document.hpp"

namespace slipway::core {

/// The core's own component, in addition to those of the spec.
inline constexpr const char* kBootComponent = "slipway-boot";

/// True when this root gets the boot unit: always offline; on a live machine when it already exists.
bool wants_boot_unit(const Session& session, const std::map<std::string, Ownership>& owned);
/// True when a component's plan loads modules or makes device nodes, so that a live machine needs the unit too.
bool is_lost_at_a_boot(const Plan& plan);

/// Returns the plan of slipway-boot.service, enabled, ordered before the units that the components name
/// (`boot_before`); of slipway-verify.service, which checks the result of that boot; of slipway-ready.target, which is
/// reached after it; and of slipway-verify-late.service, which those units start.
Plan boot_plan(const Session& session, const HostSpec& spec);

/// "slipway-boot.service has failed, its result is exit-code"; empty when it has not failed or does not exist.
std::string boot_failure(const Host& host);
/// The same for slipway-verify.service: this boot was not verified, and slipway-ready.target is not reached.
std::string verify_unit_failure(const Host& host);
inline constexpr const char* kVerifyBootAgain =
    "`journalctl -u slipway-verify.service` tells what did not pass; `systemctl start slipway-ready.target` verifies "
    "again";
/// The same for slipway-verify-late.service.
std::string late_verify_failure(const Host& host);
inline constexpr const char* kVerifyLateAgain =
    "`journalctl -u slipway-verify-late.service` tells what did not pass; `systemctl start "
    "slipway-verify-late.service` "
    "verifies again";
/// True while a container engine or node agent is starting, or has failed and is about to be restarted.
bool an_engine_starts(const Session& session, const HostSpec& spec);
/// True while slipway-apply.service runs, is about to run, or has failed and is about to be restarted.
bool is_first_apply_under_way(const Host& host);
/// The same for slipway-apply.service: it has failed for good, or systemd is about to restart it. Otherwise empty.
std::string apply_unit_failure(const Host& host);
inline constexpr const char* kStartApplyUnitAgain =
    "look at `journalctl -u slipway-apply.service`, then start the unit again: `systemctl reset-failed "
    "slipway-apply.service && systemctl start slipway-apply.service`";

/// Errors: `not_found` when the root is an image that lacks slipway, which its units run, or a plugin for a component
/// of the spec. A simulated machine's root never boots and may lack them.
Status check_installed(const Session& session, const HostSpec& spec);

/// Adds to the plan of a component that has a service with this section: the file /etc/slipway/services/NAME.json, and
/// the unit slipway-NAME.service, which is reloaded when the file changes; for a service that is useless without a
/// device, also a udev rule that starts it. Errors: the plugin cannot be read.
Status add_service_unit(Session& session, const Manifest& manifest, const Json& section, Plan& plan);

/// True when an apply has written the service's file.
bool has_service_section(const Session& session, const std::string& component);

/// Reads the service's file: an object with the section as `spec`. Errors: `not_found`, `corrupt`.
Result<Json> read_service_file(const Session& session, const std::string& component);

/// Returns the program's path inside the root. A portable folder inside the root is used itself; otherwise the path
/// where slipway's package installs it, which need not exist yet.
std::string unit_program(const Session& session);

/// The same with explicit arguments. @param prefix  the folder that the running slipway is in
std::string unit_program_in(const std::string& root, const std::string& prefix, bool portable);

}  // namespace slipway::core
