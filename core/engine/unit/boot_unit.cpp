// SPDX-License-Identifier: Apache-2.0
#include "core/engine/unit/boot_unit.hpp"

#include <algorithm>

#include "core/engine/unit/unit_program.hpp"

namespace slipway::core {
namespace {

constexpr const char* kUnitName = "slipway-boot.service";

std::string unit_text(const std::string& program) {
  return R"([Unit]
Description=slipway: finish provisioning on this boot
# The image's kernel modules and firmware are there; whoever starts containers waits for the devices.
After=local-fs.target systemd-modules-load.service systemd-udevd.service
Before=containerd.service docker.service crio.service kubelet.service
Before=k3s.service k3s-agent.service rke2-server.service rke2-agent.service k0sworker.service k0scontroller.service
Before=snap.microk8s.daemon-containerd.service
ConditionPathExists=/var/lib/slipway/generations/current
)" + unit_while_installed(program) +
         R"(
[Service]
Type=oneshot
RemainAfterExit=yes
ExecStart=)" +
         unit_word(program) + R"( apply --boot
TimeoutStartSec=15min

[Install]
WantedBy=multi-user.target
)";
}

}  // namespace

bool wants_boot_unit(const Session& session, const std::map<std::string, Ownership>& owned) {
  return !session.host_config().live || owned.contains(kBootComponent);
}

bool is_lost_at_a_boot(const Plan& plan) {
  return std::ranges::any_of(plan.actions(), [](const Action& action) {
    return action.kind() == "kernel-module" || action.kind() == "device-node";
  });
}

Plan boot_plan(const Session& session) {
  Plan plan;
  const std::string program = unit_program(session);
  plan.add(action::systemd_unit({.name = kUnitName, .content = unit_text(program), .enabled = true, .started = false}))
      .because("modules, device nodes and the like need the running machine");
  if (!session.host().exists(program))
    plan.note("the root has no " + program + " yet: install slipway there, or the boot unit has nothing to run");
  return plan;
}

}  // namespace slipway::core
