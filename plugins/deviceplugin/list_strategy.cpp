// SPDX-License-Identifier: Apache-2.0
#include "deviceplugin/list_strategy.hpp"

#include <slipway/text.hpp>

#include "deviceplugin/kubelet_version.hpp"

namespace slipway::deviceplugin {
namespace {

using nvidia::config::ListStrategy;
using nvidia::config::Settings;

constexpr const char* kKey = "deviceListStrategy";
constexpr const char* kWhere = "spec.components.deviceplugin.config.flags.plugin.deviceListStrategy";

bool plan_chose_cdi(const Host& host) {
  const Json file = parse_foreign(host.read(kDefaultsFile).value_or(""));
  return file.is_object() && file.value(kKey, Json()) == Json(to_string(ListStrategy::cdi_cri));
}

std::string strategies_of(const Settings& settings) {
  return joined(settings.list_strategies, " and ", [](ListStrategy each) { return std::string(to_string(each)); });
}

/// Returns the change that would give containers their GPUs by CDI.
std::string way_to_cdi(const Settings& settings, const StrategyGround& ground) {
  if (settings.list_strategies_given)
    return ground.has_cdi ? "set deviceListStrategy: cdi-cri"
                          : "set deviceListStrategy: cdi-cri with the component cdi";
  if (!ground.has_cdi) return "add cdi: {} to the spec's components: then containers get their GPUs by CDI";
  if (!ground.cdi_has_devices) return "let spec.components.cdi write specs of the GPUs for this vendor (modes: [nvml])";
  if (!ground.engine_has_cdi) return "switch CDI on in the engine (cdi: true in spec.components.runtime)";
  return "update kubelet";
}

}  // namespace

ListStrategy plan_list_strategy(const StrategyGround& ground, Plan& plan) {
  if (!ground.has_runtime) {
    plan.note(
        "deviceListStrategy is envvar, since the component runtime is not in the spec: pods get a GPU only if the "
        "container engine has a handler that acts on NVIDIA_VISIBLE_DEVICES; add runtime: {}" +
        std::string(ground.has_cdi ? "" : " and cdi: {}") +
        " to the spec's components, or set deviceListStrategy in the config");
    return ListStrategy::envvar;
  }
  if (!ground.has_cdi || !ground.cdi_has_devices || !ground.engine_has_cdi) return ListStrategy::envvar;
  if (!ground.kubelet.empty()) {
    plan.note("deviceListStrategy is envvar, since " + ground.kubelet);
    return ListStrategy::envvar;
  }
  const Json file{{"apiVersion", "slipway.dev/v1"},
                  {"kind", "DevicePluginDefaults"},
                  {kKey, std::string(to_string(ListStrategy::cdi_cri))}};
  plan.add(action::file({.path = kDefaultsFile, .content = pretty(file), .on_drift = "replace"}))
      .because(
          "containers get their GPUs by CDI (deviceListStrategy: cdi-cri), since cdi is in the spec and the engine "
          "has CDI on");
  return ListStrategy::cdi_cri;
}

Status check_handler(const Settings& settings, const std::string& handler, const std::string& handlers,
                     const StrategyGround& ground, Plan& plan) {
  if (settings.any_cdi() || handler.empty() || handler == "default") return {};
  if (handler == "class") {
    plan.note("pods need a RuntimeClass: deviceListStrategy is " + strategies_of(settings) +
              ", but the engine's default handler does not act on that; write runtimeClassName: " +
              handlers.substr(0, handlers.find(',')) +
              " in the pods, set set_as_default: true in spec.components.runtime, or " + way_to_cdi(settings, ground));
    return {};
  }
  std::string what = "deviceListStrategy is " + strategies_of(settings) +
                     ", but no handler of the container engine acts on that: pods would start without a GPU";
  if (settings.pass_device_specs) {  // kubelet adds the nodes to containers
    plan.note(what + ", with only the device nodes of passDeviceSpecs");
    return {};
  }
  if (!settings.list_strategies_given && ground.has_cdi && !ground.kubelet.empty())
    what += "; CDI is not an alternative, since " + ground.kubelet;
  return Error{.code = ErrorCode::invalid,
               .what = std::move(what),
               .where = kWhere,
               .next = way_to_cdi(settings, ground) + "; or install slipway-runtime as /usr/bin/slipway-runtime"};
}

const std::string& ListStrategyChoice::why_not() {
  const bool is_there = host_.exists(kubelet_root_ + kKubeletSocket);
  const std::string seen = (is_there ? "there " : "absent ") + kubelet_program_state(host_);
  if (seen == seen_) return why_not_;
  seen_ = seen;
  why_not_ = why_no_cdi_devices(read_kubelet_version(host_), host_, kubelet_root_);
  return why_not_;
}

void ListStrategyChoice::apply(Settings& settings) {
  settings.fallback.clear();
  if (settings.list_strategies_given || !plan_chose_cdi(host_)) return;
  if (why_not().empty())
    settings.list_strategies = {ListStrategy::cdi_cri};
  else
    settings.fallback = "deviceListStrategy is envvar instead of cdi-cri: " + why_not();
}

}  // namespace slipway::deviceplugin
