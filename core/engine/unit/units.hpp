// SPDX-License-Identifier: Apache-2.0
// core/engine/unit/units.hpp - the systemd units that an apply leaves: the one that finishes a boot, and one for each
// service.
#pragma once

#include <string>

#include <slipway/plan.hpp>

#include "core/engine/model/planned.hpp"
#include "core/engine/session.hpp"
#include "core/spec/document.hpp"

namespace slipway::core {

/// The core's own component, beside those of the spec.
inline constexpr const char* kBootComponent = "slipway-boot";

/// It belongs to this root: offline always, live once it is there.
bool wants_boot_unit(const Session& session, const std::map<std::string, Ownership>& owned);
/// A component's plan has modules to be loaded or device nodes, so that a live machine wants the unit too.
bool is_lost_at_a_boot(const Plan& plan);

/// The plan of slipway-boot.service, enabled, before the units that the spec's components name (`boot_before`); of
/// slipway-verify.service, which looks at what that boot has made; of slipway-ready.target, which is reached then; and
/// of slipway-verify-late.service, which those units start.
Plan boot_plan(const Session& session, const HostSpec& spec);

/// "slipway-boot.service has failed, its result is exit-code"; empty: it has not, or there is none.
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
/// A container engine or a node agent is being started, or has failed and is about to be started again.
bool an_engine_starts(const Session& session, const HostSpec& spec);
/// slipway-apply.service runs, is about to, or has failed and is about to try again.
bool is_first_apply_under_way(const Host& host);
/// The same for slipway-apply.service: it has failed for good, or systemd is about to restart it. Empty: neither.
std::string apply_unit_failure(const Host& host);
inline constexpr const char* kStartApplyUnitAgain =
    "look at `journalctl -u slipway-apply.service`, then run it again: `systemctl reset-failed slipway-apply.service "
    "&& "
    "systemctl start slipway-apply.service`";

/// Errors: `not_found` when the root is an image in which slipway, which its units run, is not installed, or
/// has no plugin for a component of the spec. A simulated machine's root, which nobody boots, may be without.
Status check_installed(const Session& session, const HostSpec& spec);

/// Adds to the plan of a component that has a service with this section: the file /etc/slipway/services/NAME.json, and
/// the unit slipway-NAME.service, which is reloaded when the file changes; for a service that has no use without a
/// device, a rule of udev that starts it. Errors: the plugin cannot be read.
Status add_service_unit(Session& session, const Manifest& manifest, const Json& section, Plan& plan);

/// An apply has left that file.
bool has_service_section(const Session& session, const std::string& component);

/// That file: an object with the section as `spec`. Errors: `not_found`, `corrupt`.
Result<Json> read_service_file(const Session& session, const std::string& component);

/// Inside the root. A portable folder that lies in the root names itself; everything else the place where slipway is
/// installed by its package, which need not be there (yet).
std::string unit_program(const Session& session);

/// The same by hand. @param prefix  the folder that the running slipway is in
std::string unit_program_in(const std::string& root, const std::string& prefix, bool portable);

}  // namespace slipway::core
