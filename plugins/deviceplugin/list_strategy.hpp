// SPDX-License-Identifier: Apache-2.0
// plugins/deviceplugin/list_strategy.hpp - the way in which containers get their devices when the config does not set
// one: CDI (cdi-cri), if specs, engine and kubelet support it; otherwise that of NVIDIA's plugin (envvar).
//
// The plan reads specs and engine, and writes its choice to a file. The service reads that file, and checks kubelet
// itself, which may be installed or changed after the apply.
#pragma once

#include <string>

#include <slipway/host.hpp>
#include <slipway/json.hpp>
#include <slipway/plan.hpp>

#include "nvidia/config/settings.hpp"

namespace slipway::deviceplugin {

/// Below kubelet's folder.
inline constexpr const char* kKubeletSocket = "/device-plugins/kubelet.sock";
inline constexpr const char* kDefaultsFile = "/etc/slipway/device-plugin-defaults.json";

/// The inputs of the decision, as far as a plan can know them.
struct StrategyGround {
  bool has_runtime = false;     ///< the component is in the spec
  bool has_cdi = false;         ///< likewise
  bool cdi_has_devices = true;  ///< the component's specs will have the devices that containers ask for
  bool engine_has_cdi = false;
  std::string kubelet;  ///< why kubelet passes on no CDI devices; empty: it passes them, or is not installed yet
};

/// Chooses cdi-cri, with the file for the service; or envvar, with a note if kubelet is the reason or the container
/// engine is unknown.
nvidia::config::ListStrategy plan_list_strategy(const StrategyGround& ground, Plan& plan);

/// Checks envvar and volume-mounts: they need a handler of the engine that acts on the containers' requests.
/// @param handler   "default", "class", "none" as the component runtime reports it; empty: not reported
/// @param handlers  their names
/// @param ground    tells whether CDI is an alternative, and what it needs
/// Errors: `invalid` no handler does, and containers would get no GPU.
Status check_handler(const nvidia::config::Settings& settings, const std::string& handler, const std::string& handlers,
                     const StrategyGround& ground, Plan& plan);

/// Used by the service: if the config has no strategy, it gets the plan's choice, as far as kubelet supports it.
class ListStrategyChoice {
 public:
  /// `host` is borrowed.
  ListStrategyChoice(const Host& host, std::string kubelet_root)
      : host_(host), kubelet_root_(std::move(kubelet_root)) {}
  void apply(nvidia::config::Settings& settings);

 private:
  const std::string& why_not();
  const Host& host_;
  std::string kubelet_root_;
  std::string seen_;  ///< kubelet's version when it was last read; empty: never
  std::string why_not_;
};

}  // namespace slipway::deviceplugin
