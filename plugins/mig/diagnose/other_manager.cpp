// SPDX-License-Identifier: Apache-2.0
#include "mig/diagnose/other_manager.hpp"

#include <fmt/format.h>

#include "nvidia/process/other_program.hpp"

namespace slipway::mig {
namespace {

constexpr const char* kManagerFolder = "/etc/nvidia-mig-manager";
constexpr const char* kManagerUnit = "nvidia-mig-manager.service";

const nvidia::OtherProgram& program() {
  static const nvidia::OtherProgram kProgram{.file = "nvidia-mig-manager",
                                             .title = "NVIDIA's MIG manager",
                                             .label = "nvidia.com/gpu.deploy.mig-manager",
                                             .operator_key = "migManager.enabled"};
  return kProgram;
}

}  // namespace

bool is_other_manager_enabled(const Host& host) {
  return nvidia::is_unit_enabled(host, kManagerUnit, {"multi-user.target", "nvidia-gpu-reset.target"});
}

std::optional<nvidia::Process> running_manager(const Host& host) {
  for (nvidia::Process& each : nvidia::find_program(host, program()))
    if (each.owner.unit != kManagerUnit && nvidia::may_change_gpus(host, each.pid)) return std::move(each);
  return std::nullopt;
}

std::string manager_text(const nvidia::Process& manager) { return nvidia::program_text(program(), manager); }

std::string how_to_end_manager(const nvidia::Process& manager) {
  return nvidia::how_to_end_program(program(), manager);
}

Error other_manager_error(const nvidia::Process& manager, const std::string& word) {
  return Error{.code = ErrorCode::conflict,
               .what = manager_text(manager) + " gives the GPUs the layouts that the labels of the node name, and " +
                       "slipway gives them those of the spec",
               .where = "spec.components.mig.other_manager = " + word,
               .next = how_to_end_manager(manager) + ", or leave the GPUs to it: other_manager: yield"};
}

void diagnose_other_manager(const Host& host, const std::string& file, Findings& findings) {
  constexpr const char* kFinding = "mig.other-manager";
  const bool is_enabled_here = is_other_manager_enabled(host);
  if (const auto manager = running_manager(host)) {
    const Error refused = other_manager_error(*manager, {});
    if (!is_enabled_here) return findings.fail(kFinding, refused.what, refused.next);
    return findings.fail(kFinding,
                         fmt::format("{}; {} is enabled as well, and gives the GPUs its own layouts at each boot",
                                     refused.what, kManagerUnit),
                         fmt::format("{}, and `systemctl disable {}` unless you do", refused.next, kManagerUnit));
  }
  if (is_enabled_here)
    return findings.fail(kFinding,
                         fmt::format("{} is enabled: at each boot it gives the GPUs the layout of its own config, and "
                                     "slipway gives them that of the spec",
                                     kManagerUnit),
                         fmt::format("keep one of them: `systemctl disable {}`, or choose one in the spec's mig with "
                                     "other_manager: take-over or yield",
                                     kManagerUnit));
  const bool is_ours = file.starts_with(std::string(kManagerFolder) + "/");
  if (is_ours || !host.exists(kManagerFolder)) return;
  findings.add({Finding::Status::warning, kFinding,
                fmt::format("there is {}: NVIDIA's MIG manager was installed here, and gives the GPUs other layouts "
                            "when it is started",
                            kManagerFolder),
                "remove NVIDIA's MIG manager if it is not used; a config in that folder can be named as `file` in the "
                "spec's mig"});
}

}  // namespace slipway::mig
