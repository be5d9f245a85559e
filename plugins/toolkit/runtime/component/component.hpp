// SPDX-License-Identifier: Apache-2.0
// plugins/toolkit/runtime/component/component.hpp - the component runtime: container engines that know GPU containers;
// its NRI mode, its checks, its diagnosis.
#pragma once

#include <string>
#include <vector>

#include <slipway/commands.hpp>
#include <slipway/component.hpp>
#include <slipway/facts.hpp>
#include <slipway/findings.hpp>
#include <slipway/host.hpp>
#include <slipway/json.hpp>
#include <slipway/plan.hpp>
#include <slipway/result.hpp>

#include "toolkit/runtime/settings.hpp"

namespace slipway::toolkit {

class Runtime final : public Component {
 public:
  // With `mode: nri` detect, plan and verify are those of nri_mode.hpp.

  /// Facts: "settings", and one object for each engine that is installed, by its name in `engines`; "no_systemd" where
  /// nobody could restart them. Not applicable where there is no GPU (nvidia/gpu.hpp), or no engine.
  Result<Facts> detect(const Spec& spec, const Host& host) const override;
  Result<Plan> plan(const Spec& spec, const Facts& facts, const Inputs& inputs) const override;
  /// Findings "runtime.ENGINE": the engine's own configuration has what was asked for.
  Result<Findings> verify(const Spec& spec, const Host& host) const override;
  /// Known failures of engines, and containers that lost their GPU (toolkit/containers/loss.hpp).
  Result<Findings> diagnose(const Spec& spec, const Host& host) const override;
  /// Custom actions: an engine takes its configuration, and answers (engine_checks.hpp).
  Result<bool> check(const Action& action, const Host& host) const override;
  Result<Outcome> apply(const Action& action, const Host& host) const override;
  /// Only what is said of them: each is a program of its own (`tool_programs` of the manifest).
  const Commands* commands() const override;
};

/// Only what is there is found, from files alone:
///   runtime.hidden        a file's runtime classes do not count, since a later import replaces its table (containerd
///                         before 2.1)
///   runtime.program       a runtime class starts a program that is not there
///   runtime.default       the default runtime class is defined nowhere
///   runtime.other-config  the engine reads another configuration than the usual one, which is there as well
/// @param kind   containerd as read_containerd() names it, with its facts
void diagnose_containerd(const std::string& kind, const Json& facts, const Host& host, Findings& findings);
/// The same of daemon.json. @param facts  of read_docker()
void diagnose_docker(const Json& facts, const Host& host, Findings& findings);

/// `on_drift: replace`: the same plan, in which no edit is kept, and the units that carry it out again when one of its
/// files changes. @param program  slipway's
Plan with_edits_replaced(const Plan& plan, const std::string& program);

/// The files by which podman and CRI-O run NVIDIA's hook in each container with NVIDIA_VISIBLE_DEVICES, beside CDI.
std::vector<std::string> legacy_hooks(const Host& host);

/// What containerd says that its configuration amounts to has the handlers, and its CRI plugin is loaded.
/// @param facts  of read_containerd()
void verify_containerd(const std::string& name, const RuntimeSettings& settings, const Json& facts, const Host& host,
                       Findings& findings);

/// Where containerd cannot be asked: no file that it reads has a handler, or a later file hides it. Adds a finding
/// then.
bool containerd_files_fail(const std::string& name, const RuntimeSettings& settings, const Json& facts,
                           const Host& host, Findings& findings);

/// dockerd does not start when a flag and its file set the same. Adds a finding then.
/// @param facts  of read_docker()
bool docker_files_fail(const std::string& name, const Json& facts, const Host& host, Findings& findings);

/// The engine answers at its socket; one without a daemon has nothing to exercise.
void verify_answers(const std::string& name, const Json& facts, const Host& host, Findings& findings);

/// Outputs, where kubelet's engine is known: "cdi", it gives the devices of cdi-cri; "handler", which of its handlers
/// act on NVIDIA_VISIBLE_DEVICES: the "default" one, one that pods name by a runtime "class", "none"; "handlers", their
/// names.
void add_outputs(const RuntimeSettings& settings, const Facts& facts, Plan& plan);

/// Facts: "settings", one object for each engine that has NRI, by its name in `engines`, and "nri": who listens.
/// Errors: `not_found` a named engine is not installed; `unsupported` a named one has no NRI.
Result<Facts> detect_nri(const RuntimeSettings& settings, const Host& host);

/// Notes, and no action. Errors: `unsupported` the engine is too old for NRI, or runs and has it switched off.
Result<Plan> plan_nri(const RuntimeSettings& settings, const Facts& facts, bool live);

/// Findings "runtime.ENGINE": it answers; "runtime.nri": the running service says that the engine has taken it in;
/// "runtime.kubelet": verify_kubelet().
Result<Findings> verify_nri(const RuntimeSettings& settings, const Host& host);

/// The paths with the file name `wanted` at which somebody listens, as the kernel's list has them; none in an image.
std::vector<std::string> listening_sockets(const Host& host, const std::string& wanted);

/// Finding "runtime.kubelet": kubelet, whose word counts for unprivileged containers, answers below `kubelet_root`. It
/// fails where kubelet is somewhere else, or does not answer; a machine without kubelet has nothing to exercise.
void verify_kubelet(const RuntimeSettings& settings, const Host& host, Findings& findings);

}  // namespace slipway::toolkit
