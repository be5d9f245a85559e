// SPDX-License-Identifier: Apache-2.0
// plugins/driver/verify/verify.hpp - is the driver really there and working? Files anywhere, hardware where there is
// some.
#pragma once

#include <slipway/findings.hpp>

#include "driver/detect/host_facts.hpp"
#include "driver/settings.hpp"

namespace slipway::driver {

/// Findings "driver.installed", ".libraries", ".links", ".modules", ".depmod", ".modprobe", ".next-boot" (when it
/// fails),
/// ".loaded", ".nodes", ".gpus", ".nouveau", of which the last four are not applicable without hardware; ".parameters"
/// where the spec sets some and a live machine shows what the loaded modules have; ".fabric-manager" where NVSwitches
/// lack theirs, a warning on a simulated machine.
Findings verify_driver(const Settings& settings, const HostFacts& facts, const Host& host);

// Its parts, and what nearly all of their findings advise.
inline constexpr const char* kApply = "run `slipway apply`";
void verify_files(const Receipt& receipt, const HostFacts& facts, const Host& host, Findings& findings);
void verify_modules(const Receipt& receipt, const HostFacts& facts, const Host& host, Findings& findings);
void verify_hardware(const std::string& driver_version, const Settings& settings, const HostFacts& facts,
                     const Host& host, Findings& findings);
void verify_modprobe(const Settings& settings, const HostFacts& facts, Findings& findings);
void verify_parameters(const Settings& settings, const HostFacts& facts, Findings& findings);

}  // namespace slipway::driver
