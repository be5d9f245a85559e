// SPDX-License-Identifier: Apache-2.0
// plugins/toolkit/runtime/component/component.hpp - the component runtime: container engines that support GPU
// containers; its NRI mode, its checks, its diagnosis.
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

  /// Facts: "settings", and one object for each installed engine, by its name in `engines`; "no_systemd" if engines
  /// cannot be restarted. Not applicable without a GPU (nvidia/gpu.hpp), or without an engine.
  Result<Facts> detect(const Spec& spec, const Host& host) const override;
  Result<Plan> plan(const Spec& spec, const Facts& facts, const Inputs& inputs) const override;
  /// Findings "runtime.ENGINE": the engine's own configuration has the requested settings.
  Result<Findings> verify(const Spec& spec, const Host& host) const override;
  /// Finds known failures of engines, and containers that lost their GPU (toolkit/containers/loss.hpp).
  Result<Findings> diagnose(const Spec& spec, const Host& host) const override;
  /// Custom actions: an engine accepts its configuration, and answers (engine_checks.hpp).
  Result<bool> check(const Action& action, const Host& host) const override;
  Result<Outcome> apply(const Action& action, const Host& host) const override;
  /// Only their descriptions: each is a separate program (`tool_programs` of the manifest).
  const Commands* commands() const override;
};

/// Adds a finding only for a problem that exists, from files alone:
///   runtime.hidden        a file's runtime classes have no effect, because a later import replaces its table
///   (containerd
///                         before 2.1)
///   runtime.program       a runtime class starts a program that does not exist
///   runtime.default       the default runtime class is defined nowhere
///   runtime.other-config  the engine reads another configuration than the usual one, which also exists
/// @param kind   containerd's name in read_containerd(), with its facts
void diagnose_containerd(const std::string& kind, const Json& facts, const Host& host, Findings& findings);
/// The same for daemon.json. @param facts  from read_docker()
void diagnose_docker(const Json& facts, const Host& host, Findings& findings);

/// `on_drift: replace`: returns the same plan without kept edits, and with the units that repeat it when one of its
/// files changes. @param program  slipway's path
Plan with_edits_replaced(const Plan& plan, const std::string& program);

/// Returns the files by which podman and CRI-O run NVIDIA's hook in each container with NVIDIA_VISIBLE_DEVICES, besides
/// CDI.
std::vector<std::string> legacy_hooks(const Host& host);

/// Checks that containerd's effective configuration has the handlers, and that its CRI plugin is loaded.
/// @param facts  from read_containerd()
void verify_containerd(const std::string& name, const RuntimeSettings& settings, const Json& facts, const Host& host,
                       Findings& findings);

/// Used if containerd cannot be asked: adds a finding if no file that it reads has a handler, or a later file hides it.
bool containerd_files_fail(const std::string& name, const RuntimeSettings& settings, const Json& facts,
                           const Host& host, Findings& findings);

/// Adds a finding if a flag and the file set the same value, because dockerd then does not start.
/// @param facts  from read_docker()
bool docker_files_fail(const std::string& name, const Json& facts, const Host& host, Findings& findings);

/// Checks that the engine answers at its socket; an engine without a daemon has nothing to check.
void verify_answers(const std::string& name, const Json& facts, const Host& host, Findings& findings);

/// Adds outputs if kubelet's engine is known. "cdi": it supports the devices of cdi-cri. "handlers": the names of the
/// handlers that act on NVIDIA_VISIBLE_DEVICES. "handler": whether these are the "default" one, ones that pods name by
/// a runtime "class", or "none".
void add_outputs(const RuntimeSettings& settings, const Facts& facts, Plan& plan);

/// Facts: "settings", one object for each engine with NRI, by its name in `engines`, and "nri": the listening sockets.
/// Errors: `not_found` a named engine is not installed; `unsupported` a named one has no NRI.
Result<Facts> detect_nri(const RuntimeSettings& settings, const Host& host);

/// Adds notes, and no action. Errors: `unsupported` the engine is too old for NRI, or runs with NRI disabled.
Result<Plan> plan_nri(const RuntimeSettings& settings, const Facts& facts, bool live);

/// Findings "runtime.ENGINE": it answers; "runtime.nri": the running service reports that the engine has accepted it;
/// "runtime.kubelet": verify_kubelet().
Result<Findings> verify_nri(const RuntimeSettings& settings, const Host& host);

/// Returns the listening paths with the file name `wanted`, from the kernel's list; none in an image.
std::vector<std::string> listening_sockets(const Host& host, const std::string& wanted);

/// Adds "runtime.kubelet": kubelet, which decides for unprivileged containers, answers below `kubelet_root`. It fails
/// if kubelet is elsewhere, or does not answer; without kubelet there is nothing to check.
void verify_kubelet(const RuntimeSettings& settings, const Host& host, Findings& findings);

}  // namespace slipway::toolkit
