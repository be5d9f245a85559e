// SPDX-License-Identifier: Apache-2.0
#include "nvidia/config/variables.hpp"

#include <algorithm>
#include <array>
#include <cstddef>

namespace slipway::nvidia::config {
namespace {

constexpr std::string_view kNoContainer = "the service runs on the host itself, not in a container";
constexpr std::string_view kOfHost =
    "the spec is the host's own: `config_file`, `config_name` or `config_choice_file` select the config, and the "
    "service notices a change";
constexpr std::string_view kNoSpecs = "this component writes no CDI specs; the component cdi does";
constexpr std::string_view kNoTegra = "auto|nvml";

/// Variables of the containers that both charts run these programs in, and of their config managers.
constexpr std::array kOfBoth{
    needless("DRIVER_ROOT_CTR_PATH", kNoContainer),
    needless("CONTAINER_DRIVER_ROOT", kNoContainer),
    needless("NVIDIA_VISIBLE_DEVICES", kNoContainer),
    needless("NVIDIA_MIG_MONITOR_DEVICES", kNoContainer),
    needless("ONESHOT", kOfHost),
    needless("KUBECONFIG", kOfHost),
    needless("NODE_NAME", kOfHost),
    needless("NODE_LABEL", kOfHost),
    needless("CONFIG_FILE_SRCDIR", kOfHost),
    needless("CONFIG_FILE_DST", kOfHost),
    needless("DEFAULT_CONFIG", kOfHost),
    needless("FALLBACK_STRATEGIES", kOfHost),
    needless("SEND_SIGNAL", kOfHost),
    needless("SIGNAL", kOfHost),
    needless("PROCESS_TO_SIGNAL", kOfHost),
};

template <std::size_t kOwn>
constexpr auto with_those_of_both(const std::array<Switch, kOwn>& own) {
  std::array<Switch, kOwn + kOfBoth.size()> all{};
  std::ranges::copy(kOfBoth, std::ranges::copy(own, all.begin()).out);
  return all;
}

constexpr auto kPluginSwitches = with_those_of_both(std::array{
    honoured("MIG_STRATEGY", "config"),
    honoured("FAIL_ON_INIT_ERROR", "config"),
    honoured("NVIDIA_DRIVER_ROOT", "config"),
    honoured("NVIDIA_DEV_ROOT", "config"),
    honoured("PASS_DEVICE_SPECS", "config"),
    honoured("DEVICE_LIST_STRATEGY", "config"),
    honoured("DEVICE_ID_STRATEGY", "config"),
    honoured("GDRCOPY_ENABLED", "config"),
    honoured("GDS_ENABLED", "config"),
    honoured("MOFED_ENABLED", "config"),
    honoured("CDI_ANNOTATION_PREFIX", "config"),
    refused("NVIDIA_CDI_HOOK_PATH", "", kNoSpecs),
    refused("NVIDIA_CTK_PATH", "", kNoSpecs),
    honoured("MPS_ROOT", "config"),
    honoured("SHARED_DEVICES_ALLOCATION_POLICY", "config"),
    refused("DEVICE_DISCOVERY_STRATEGY", kNoTegra, "devices are found by NVML; Tegra is not supported"),
    honoured("IMEX_CHANNEL_IDS", "config"),
    honoured("IMEX_REQUIRED", "config"),
    honoured("KUBELET_SOCKET", "kubelet_root"),
    honoured("CONFIG_FILE", "config_file"),
    refused("CDI_FEATURE_FLAGS", "",
            "this component writes no CDI specs; the component cdi has the keys `explicit_libraries` and `coherent`"),
    refused("CDI_DISABLE_HOOKS", "", "this component writes no CDI specs; use `hooks: none` of the component cdi"),
    honoured("DP_DISABLE_HEALTHCHECKS", "health_rules"),
    honoured("DP_ENABLE_HEALTHCHECKS", "health_rules"),
    needless("NVIDIA_DRIVER_CAPABILITIES", kNoContainer),
});

constexpr auto kDiscoverySwitches = with_those_of_both(std::array{
    honoured("GFD_MIG_STRATEGY", "mig_strategy"),
    honoured("MIG_STRATEGY", "mig_strategy"),
    honoured("GFD_FAIL_ON_INIT_ERROR"),
    honoured("FAIL_ON_INIT_ERROR"),
    refused("GFD_ONESHOT", kOff,
            "`interval: infinite` has the service make one pass, `slipway gfd labels` prints once"),
    honoured("GFD_NO_TIMESTAMP", "timestamp"),
    honoured("GFD_SLEEP_INTERVAL", "interval"),
    honoured("GFD_OUTPUT_FILE", "output"),
    honoured("GFD_MACHINE_TYPE_FILE", "machine_type_file"),
    honoured("GFD_CONFIG_FILE", "config_file"),
    honoured("CONFIG_FILE", "config_file"),
    refused("GFD_USE_NODE_FEATURE_API", kOff,
            "so far the labels only go to the file that Node Feature Discovery reads"),
    refused("USE_NODE_FEATURE_API", kOff, "so far the labels only go to the file that Node Feature Discovery reads"),
    refused("DEVICE_DISCOVERY_STRATEGY", kNoTegra, "devices are found by NVML; Tegra and vfio are not supported"),
    needless("NAMESPACE", kNoContainer),
    needless("POD_NAME", kNoContainer),
});

/// Not every component that reads the shared config has the key `env`.
Json env_of(const Spec& spec) { return spec.json().is_object() ? spec.json().value("env", Json()) : Json(); }

/// If it is empty, NVIDIA's plugin does not talk to kubelet.
Status check_socket(const Spec& spec, const Environment& process) {
  constexpr const char* kName = "KUBELET_SOCKET";
  const Environment variables = with_variables_of(spec, process);  // owns the text of `socket`
  const char* const socket = variables(kName);
  if (socket == nullptr || *socket == '/') return {};
  return Error{.code = ErrorCode::usage,
               .what = std::string(kName) + " is '" + socket + "', which is not an absolute path",
               .where = place_of_variable(spec, "deviceplugin", kName),
               .next = "give the path of kubelet's socket, or remove the variable"};
}

}  // namespace

std::span<const Switch> plugin_variables() { return kPluginSwitches; }
std::span<const Switch> discovery_variables() { return kDiscoverySwitches; }

Environment with_variables_of(const Spec& spec, Environment process) {
  return [env = env_of(spec), process = std::move(process)](const char* name) -> const char* {
    const auto found = env.is_object() ? env.find(name) : env.end();
    if (env.is_object() && found != env.end() && found->is_string())
      return found->get_ref<const std::string&>().c_str();
    return process(name);
  };
}

std::string place_of_variable(const Spec& spec, const std::string& component, const std::string& name) {
  const Json env = env_of(spec);
  return (env.is_object() && env.contains(name) ? "spec.components." + component + ".env." : "environment.") + name;
}

Result<std::vector<std::string>> check_variables(const Spec& spec, const std::string& component,
                                                 const Environment& process) {
  const bool plugin = component == "deviceplugin";
  if (!plugin && component != "gfd") return std::vector<std::string>();
  if (plugin) SLIPWAY_CHECK(check_socket(spec, process));
  const auto switches = plugin ? plugin_variables() : discovery_variables();
  SLIPWAY_CHECK(check_process(switches, [&](const std::string& name) {
    const char* const value = process(name.c_str());
    return value == nullptr ? std::string() : std::string(value);
  }));
  return check_switches(switches, env_of(spec), plugin ? "nvidia-device-plugin" : "gpu-feature-discovery",
                        "spec.components." + component + ".env");
}

}  // namespace slipway::nvidia::config
