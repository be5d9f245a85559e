// SPDX-License-Identifier: Apache-2.0
// plugins/driver/verify/verify.hpp - checks that the driver is installed and works: files anywhere, hardware where
// there is some.
#pragma once

#include <slipway/findings.hpp>

#include "driver/detect/host_facts.hpp"
#include "driver/settings.hpp"

namespace slipway::driver {

/// Returns the findings "driver.installed", ".libraries", ".links", ".modules", ".fits" (symbol checksums and
/// signatures; not exercised if nothing could be compared), ".depmod", ".modprobe", ".next-boot"
/// (when it fails), ".loaded", ".nodes", ".gpus", ".nouveau", of which the last four are not applicable without
/// hardware; ".parameters" if the spec sets some and a live machine shows the loaded modules' values; ".fabric-manager"
/// if NVSwitches lack a matching one, a warning on a simulated machine.
Findings verify_driver(const Settings& settings, const HostFacts& facts, const Host& host);

// The parts of verify_driver(), and the advice of nearly all their findings.
inline constexpr const char* kApply = "run `slipway apply`";
void verify_files(const Receipt& receipt, const HostFacts& facts, const Host& host, Findings& findings);
void verify_modules(const Receipt& receipt, const HostFacts& facts, const Host& host, Findings& findings);
void verify_hardware(const std::string& driver_version, const Settings& settings, const HostFacts& facts,
                     const Host& host, Findings& findings);
void verify_modprobe(const Settings& settings, const HostFacts& facts, Findings& findings);
void verify_parameters(const Settings& settings, const HostFacts& facts, Findings& findings);

}  // namespace slipway::driver
