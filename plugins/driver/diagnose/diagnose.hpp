// SPDX-License-Identifier: Apache-2.0
// plugins/driver/diagnose/diagnose.hpp - known failure patterns of drivers, each with its remedy: for `slipway doctor`.
#pragma once

#include <string>
#include <vector>

#include <slipway/findings.hpp>

#include "driver/detect/host_facts.hpp"
#include "nvidia/health/rules.hpp"

namespace slipway::driver {

/// Adds a finding only for a problem that exists:
///   driver.kernel       the running kernel has no driver modules, or one has lost them
///   driver.next-boot    the kernel of the next boot has no driver modules
///   driver.two-drivers  slipway's driver, and another one
///   driver.dkms         remains of DKMS, for removed kernels or beside slipway's modules
///   driver.other-kernel a module that was built for another kernel
///   driver.versions     library and loaded module differ
///   driver.uvm-nodes    /dev/nvidia-uvm and -tools are missing or wrong, or the module is not loaded
///   driver.nouveau      nouveau is loaded
///   driver.modprobe     a line of modprobe.d, or the kernel's command line, keeps a module from being loaded
///   driver.gpu-table    a file that renews the table of GPUs has a mistake
///   driver.fabric-manager  NVSwitches without a Fabric Manager of the driver's version
///   driver.signature    the kernel refused a module's signature, now or according to the log
///   driver.start        the driver could not start a GPU
///   driver.xid          XID errors, one finding for each number and GPU or GPU instance, and GPUs that fell off the
///   bus driver.sxid         errors of NVSwitches, one finding for each number and switch driver.health-rules the
///   site's file of health rules has a mistake driver.log          the kernel's log cannot be read
Findings diagnose_driver(const HostFacts& facts, const Host& host);

/// Adds a finding when the next kernel to boot has no driver modules; verify fails for it too.
void check_next_boot(const HostFacts& facts, const Host& host, Findings& findings);

/// Adds a finding when NVSwitches have no Fabric Manager of the driver's version, for verify and doctor. The finding
/// fails on a live machine. It is a warning on a simulated machine, where no CUDA program runs.
void check_fabric_manager(const HostFacts& facts, const Host& host, Findings& findings);

/// Adds a finding when the library that programs find is of another version than the loaded module, for verify and
/// doctor: the state after a driver was replaced on the disk and not in the kernel.
void check_versions(const HostFacts& facts, const Host& host, Findings& findings);
/// What to do about a loaded driver that is not the installed one.
std::string other_driver_remedy(const HostFacts& facts);

/// Returns lines about these modules: "/etc/modprobe.d/x.conf:1: 'install nvidia /bin/false'".
std::vector<std::string> lines_that_prevent_loading(const HostFacts& facts, const std::vector<std::string>& modules);
inline constexpr const char* kDeleteLines =
    "delete these lines (module_blacklist= in the boot loader's configuration), then run `slipway apply`";

// Its parts.
void diagnose_kernels(const HostFacts& facts, const Host& host, Findings& findings);
void diagnose_other_drivers(const HostFacts& facts, const Host& host, Findings& findings);
void diagnose_running(const HostFacts& facts, const Host& host, Findings& findings);
void diagnose_log(const HostFacts& facts, const Host& host, Findings& findings);
/// The machine that the lines are from.
struct LogOf {
  bool with_secure_boot = false;  ///< Secure Boot is on
  unsigned driver_branch = 0;     ///< of the loaded driver; 0: unknown
};
/// Checks these lines only.
void diagnose_log_lines(const std::vector<std::string>& log, const LogOf& machine, const nvidia::health::Rules& rules,
                        Findings& findings);

}  // namespace slipway::driver
