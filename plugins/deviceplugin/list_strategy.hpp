// SPDX-License-Identifier: Apache-2.0
// plugins/deviceplugin/list_strategy.hpp - how containers are given their devices where the config says nothing: by CDI
// (cdi-cri), where specs, engine and kubelet have what that takes; else as NVIDIA's plugin has it (envvar).
//
// The plan knows specs and engine, and leaves its choice in a file. The service reads that file, and looks at kubelet
// itself, which may come or change after the apply.
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

/// What decides, as far as a plan can know it.
struct StrategyGround {
  bool has_runtime = false;     ///< the component is in the spec
  bool has_cdi = false;         ///< likewise
  bool cdi_has_devices = true;  ///< its specs will have what containers ask for
  bool engine_has_cdi = false;
  std::string kubelet;  ///< why kubelet passes on no CDI devices; empty: it does, or is not there yet
};

/// cdi-cri, with the file for the service; or envvar, with a note where kubelet is why, or nobody knows the engine.
nvidia::config::ListStrategy plan_list_strategy(const StrategyGround& ground, Plan& plan);

/// Of envvar and volume-mounts: a handler of the engine has to act on what containers request.
/// @param handler   "default", "class", "none" as the component runtime says it; empty: it says nothing
/// @param handlers  their names
/// @param ground    whether CDI is a way out, and what it takes
/// Errors: `invalid` no handler does, and nothing else gives containers a GPU.
Status check_handler(const nvidia::config::Settings& settings, const std::string& handler, const std::string& handlers,
                     const StrategyGround& ground, Plan& plan);

/// For a service: settings whose config says nothing get the plan's choice, as far as kubelet goes along with it.
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
  std::string seen_;  ///< of kubelet, when it was asked; empty: never
  std::string why_not_;
};

}  // namespace slipway::deviceplugin
