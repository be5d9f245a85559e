// SPDX-License-Identifier: Apache-2.0
// plugins/toolkit/cdi/component/refresh_units.cpp - the units and the udev rule that keep the specs up to date.
#include "base/units/unit_text.hpp"
#include "nvidia/cdi_refresh.hpp"
#include "toolkit/cdi/component/component.hpp"

namespace slipway::toolkit {
namespace {

constexpr const char* kRule = "/etc/udev/rules.d/73-slipway-cdi-refresh.rules";

// A request is removed before the machine is read, so that a request that arrives meanwhile counts. The pause limits
// the rate to two runs a second, without a start limit that would stop the refresh for good. The unit waits for the end
// of another apply, which may have finished cdi already; status 75 means that this apply takes longer. Nodes appear a
// moment after their module, so that a failure is retried a few times. A Condition that fails would leave the request
// in place, and systemd would start the unit again and again.
std::string service_text(const CdiSettings& settings, const std::string& program) {
  const std::string folder = base::unit_word(settings.folder);
  const std::string request = nvidia::kRefreshFile;
  return R"([Unit]
Description=slipway: cdi, writes the CDI specs again when the machine has changed
After=local-fs.target slipway-boot.service
StartLimitIntervalSec=0

[Service]
Type=oneshot
ExecStartPre=-+mkdir -p -- /run/slipway )" +
         folder + R"(
ExecStartPre=-rm -rf )" +
         request + R"(
ExecStart=)" +
         base::unit_word(program) + R"( apply --boot --only cdi --wait=90s
SuccessExitStatus=75
ExecStopPost=-/bin/sh -c 'sleep 0.5; n=$$(cat )" +
         request + R"(-tries 2>/dev/null || echo 0); case "$$EXIT_STATUS" in 0) rm -f )" + request +
         R"(-tries ;; 75) sleep 2; : >)" + request + R"( ;; *) if [ "$$n" -lt 10 ]; then echo $$((n+1)) >)" + request +
         R"(-tries; : >)" + request + R"(; else rm -f )" + request + R"(-tries; fi ;; esac'
TimeoutStartSec=2min

# What cdi needs: the driver to ask, its folder and slipway's own to write, systemd to ask about its units.
ReadWritePaths=-)" +
         folder + R"( -/run/slipway -/var/lib/slipway -/var/log/slipway -/var/cache/slipway
# Its own units, which a newer slipway writes anew.
ReadWritePaths=-/etc/systemd/system -/etc/udev/rules.d
MemoryMax=512M
TasksMax=256
# An apply gives each worker a control group of its own.
# NVML shows MIG devices to administrators alone, and makes nodes of GPUs that have none.
CapabilityBoundingSet=CAP_SYS_ADMIN CAP_MKNOD
DevicePolicy=closed
DeviceAllow=char-nvidia* rwm
RestrictAddressFamilies=AF_UNIX
PrivateNetwork=yes
ProtectHome=read-only
PrivateTmp=yes
MemoryDenyWriteExecute=yes
)" + base::restriction_lines({"ProtectProc", "ProtectControlGroups", "RestrictNamespaces"}) +
         R"(SystemCallFilter=@system-service mknod mknodat
)";
}

// Like all path units it starts before basic.target, and so before slipway-boot.service, which the service waits for.
// It does not watch /dev itself: a write to /dev/null would trigger it. Nodes of MIG are only read, or written by root.
std::string path_text(const std::string& program) {
  return std::string(R"([Unit]
Description=slipway: cdi, waits for changes of what the CDI specs describe
)") + base::unit_while_installed(program) +
         R"(
[Path]
PathExists=)" +
         nvidia::kRefreshFile + R"(
PathChanged=/dev/nvidia-caps
PathChanged=/dev/nvidia-caps-imex-channels
PathChanged=/run/nvidia/driver
PathChanged=/run/nvidia/validations

[Install]
WantedBy=multi-user.target
)";
}

std::string rule_text() {
  const std::string run = std::string("RUN+=\"/bin/sh -c 'mkdir -p /run/slipway; : >") + nvidia::kRefreshFile + "'\"\n";
  return "# slipway: the CDI specs follow the driver and the GPUs when they are loaded, added or removed.\n"
         "ACTION==\"add|change\", SUBSYSTEM==\"module\", KERNEL==\"nvidia|nvidia_uvm|nvidia_modeset|nvidia_drm|"
         "nvidia_current\", " +
         run +
         "ACTION==\"add|remove|bind|unbind\", SUBSYSTEM==\"pci\", ENV{PCI_ID}==\"10DE:*\", ENV{PCI_CLASS}==\"30*\", " +
         run +
         "ACTION==\"add|remove\", SUBSYSTEM==\"drm\", KERNEL==\"renderD*|card[0-9]*\", SUBSYSTEMS==\"pci\", "
         "ATTRS{vendor}==\"0x10de\", " +
         run;
}

}  // namespace

void plan_refresh_units(const CdiSettings& settings, const std::string& program, Plan& plan) {
  plan.add(action::systemd_unit({.name = nvidia::kRefreshService,
                                 .content = service_text(settings, program),
                                 .enabled = false,
                                 .started = false}))
      .because("the specs are written again when the driver, a GPU or MIG devices come or go");
  plan.add(action::file({.path = kRule, .content = rule_text()}))
      .because("udev tells when the driver or a GPU comes or goes");
  plan.add(action::systemd_unit(
               {.name = nvidia::kRefreshPathUnit, .content = path_text(program), .enabled = true, .started = true}))
      .because("this unit waits for changes of the driver, the GPUs and MIG");
}

}  // namespace slipway::toolkit
