// SPDX-License-Identifier: Apache-2.0
// sandbox/unit/boot_units_text.cpp - the units of a boot: the apply that completes it, the verify of the result, and
// the target that is reached when this passes.
#include <slipway/text.hpp>

#include "base/units/unit_text.hpp"
#include "sandbox/unit/unit_text.hpp"

namespace slipway::sandbox {
namespace {

constexpr const char* kWaitsForTheApply =
    "# Before the first apply it waits for the end of slipway-apply.service, which may wait for a registry.\n"
    "TimeoutStartSec=infinity\n";

/// systemd.special(7): units that a good boot needs are required by boot-complete.target, and come before it.
constexpr const char* kBeforeTheBootIsComplete =
    "# The spec says boot_gate: true: a boot counts as good only when this passes.\n"
    "Before=boot-complete.target\n";

std::string program_line(const std::string& program, const std::string& words) {
  return "ExecStart=" + base::unit_word(program) + " " + words + "\n";
}

}  // namespace

std::string boot_unit_text(const std::string& program, const std::string& before) {
  return R"([Unit]
Description=slipway: finish provisioning on this boot
# The image's kernel modules and firmware are present; units that need the results of this one wait for it.
After=local-fs.target systemd-modules-load.service systemd-udevd.service
)" + before +
         R"(ConditionPathExists=/var/lib/slipway/generations/current
)" + base::unit_while_installed(program) +
         R"(
[Service]
Type=oneshot
RemainAfterExit=yes
)" + program_line(program, "apply --boot") +
         R"(TimeoutStartSec=15min
# "Done except for a reboot" does not count as a failed boot.
SuccessExitStatus=4
# A stop signal goes to the command, which ends its workers and their processes.
KillMode=mixed

# It changes the machine, and a mount namespace would hide its changes. Rights that no component's work needs are removed.
)" + std::string(base::kLimitsOfAnApply) +
         R"(
[Install]
WantedBy=multi-user.target
)";
}

// An assertion instead of the boot unit's condition: a unit that a condition skips counts as started, and the target
// would be reached without a verify. Without default dependencies nothing waits for the verify except units ordered
// after it.
std::string verify_unit_text(const std::string& program, const std::vector<std::string>& after, bool first,
                             bool gates) {
  return R"([Unit]
Description=slipway: verify what this boot has made
DefaultDependencies=no
Requires=sysinit.target
Wants=slipway-boot.service
After=sysinit.target basic.target slipway-boot.service)" +
         std::string(first ? " slipway-apply.service" : "") + (after.empty() ? "" : " " + joined(after, " ")) +
         R"(
Conflicts=shutdown.target
Before=shutdown.target
)" + std::string(gates ? kBeforeTheBootIsComplete : "") +
         "Assert" + base::unit_while_installed(program).substr(std::string_view("Condition").size()) +
         R"(
[Service]
Type=oneshot
RemainAfterExit=yes
)" + program_line(program, "verify --boot") +
         std::string(first ? kWaitsForTheApply : "TimeoutStartSec=10min\n") +
         R"(
# It reads, tries the GPUs, and asks systemd and services. Devices of every vendor are allowed: each component verifies
# its own. No ProtectKernelModules: that hides /usr/lib/modules, which is verified; CAP_SYS_MODULE is not granted in any
# case.
ProtectSystem=strict
ReadWritePaths=-/run/slipway -/var/lib/slipway -/var/cache/slipway
MemoryMax=90%
TasksMax=4096
# NVML shows MIG devices to administrators only; the kernel's log; reading files and processes of other users.
CapabilityBoundingSet=CAP_SYS_ADMIN CAP_SYSLOG CAP_DAC_READ_SEARCH CAP_SYS_PTRACE
RestrictAddressFamilies=AF_UNIX AF_INET AF_INET6 AF_NETLINK
ProtectHome=read-only
PrivateTmp=yes
)" +
         base::restriction_lines({"ProtectSystem", "ProtectProc", "ProtectClock", "ProtectKernelLogs",
                                  "ProtectKernelModules", "ProtectControlGroups", "RestrictNamespaces"}) +
         "SystemCallFilter=@system-service\n" + (gates ? "\n[Install]\nRequiredBy=boot-complete.target\n" : "");
}

// Units that are missing on the machine start nothing, and nothing waits for them. The unit is not active afterwards,
// so that each start of an engine or of kubelet starts it again; and the units that start it do not wait for it to end.
std::string late_verify_unit_text(const std::string& program, const std::vector<std::string>& services,
                                  const std::vector<std::string>& engines) {
  return R"([Unit]
Description=slipway: verify what needs a container engine or kubelet
DefaultDependencies=no
Requires=sysinit.target
After=sysinit.target basic.target slipway-boot.service slipway-verify.service )" +
         joined(services, " ") + (services.empty() ? "" : " ") + joined(engines, " ") + R"(
Conflicts=shutdown.target
Before=shutdown.target
)" + base::unit_while_installed(program) +
         R"(
[Service]
Type=exec
)" + program_line(program, "verify --after-boot") +
         R"(RuntimeMaxSec=20min

# It tries a container, as `slipway apply` does, and has the same limits.
)" + std::string(base::kLimitsOfAnApply) +
         R"(
[Install]
WantedBy=)" +
         joined(engines, " ") + "\n";
}

std::string ready_target_text() {
  return R"([Unit]
Description=slipway: this boot is provisioned and verified
DefaultDependencies=no
Requires=slipway-verify.service
After=slipway-verify.service
Conflicts=shutdown.target
Before=shutdown.target

[Install]
WantedBy=multi-user.target
)";
}

}  // namespace slipway::sandbox
