// SPDX-License-Identifier: Apache-2.0
#include "toolkit/runtime/variables.hpp"

#include <array>

namespace slipway::toolkit {
namespace {

using nvidia::honoured;
using nvidia::kOff;
using nvidia::needless;
using nvidia::refused;
using nvidia::Switch;

constexpr std::string_view kNoContainer =
    "slipway runs on the host, not in a container with the host mounted at a folder";
constexpr std::string_view kNoInstaller = "slipway's own programs are where its package has put them";
constexpr std::string_view kNoHook = "slipway has no hook of the legacy mode";
constexpr std::string_view kDriverRoots = "/|/run/nvidia/driver";  // where the component cdi looks by default

constexpr std::array kVariables{
    needless("NO_DAEMON", "slipway configures the engines and ends", kOff),
    honoured("NO_RUNTIME_CONFIG", "engines"),
    refused("ENABLE_NRI_PLUGIN", kOff, "use `mode: nri` of the component runtime, which has a service run"),
    refused("NRI_PLUGIN_INDEX", "10", "the plugin is called 10-slipway"),
    refused("NRI_SOCKET", "", "use the key `nri_socket` of the component runtime, which also opens it to the service"),
    honoured("NRI_NAMESPACE", "requests"),
    honoured("NRI_MANAGEMENT_CDI_DEVICE_NAMESPACES", "requests"),
    honoured("RUNTIME", "engines"),
    needless("TOOLKIT_INSTALL_DIR", kNoInstaller),
    needless("ROOT", kNoInstaller),
    needless("TOOLKIT_SOURCE_ROOT", kNoInstaller),
    needless("TOOLKIT_PACKAGE_TYPE", kNoInstaller),
    needless("TOOLKIT_PID_FILE", kNoInstaller),
    needless("PID_FILE", kNoInstaller),
    refused("TOOLKIT_DEBUG", kOff, "`slipway apply -v` tells more"),
    refused("NVIDIA_DRIVER_ROOT", kDriverRoots, "use the key `driver_root` of the component cdi"),
    refused("DRIVER_ROOT", kDriverRoots, "use the key `driver_root` of the component cdi"),
    needless("DRIVER_ROOT_CTR_PATH", kNoContainer),
    refused("NVIDIA_DEV_ROOT", kDriverRoots, "use the key `dev_root` of the component cdi"),
    refused("DEV_ROOT", kDriverRoots, "use the key `dev_root` of the component cdi"),
    needless("DEV_ROOT_CTR_PATH", kNoContainer),
    honoured("NVIDIA_CONTAINER_RUNTIME_DEBUG", "debug"),
    honoured("NVIDIA_CONTAINER_RUNTIME_LOG_LEVEL", "log_level"),
    honoured("NVIDIA_CONTAINER_RUNTIME_MODE"),
    honoured("NVIDIA_CONTAINER_RUNTIME_MODES_CDI_DEFAULT_KIND"),
    refused("NVIDIA_CONTAINER_RUNTIME_MODES_CDI_ANNOTATION_PREFIXES", "cdi.k8s.io/",
            "slipway has containerd pass no other annotations on; the device plugin's strategy cdi-cri needs none"),
    honoured("NVIDIA_CONTAINER_RUNTIME_RUNTIMES"),
    needless("NVIDIA_CONTAINER_RUNTIME_HOOK_SKIP_MODE_DETECTION", kNoHook, kOff),
    refused("NVIDIA_CONTAINER_CLI_DEBUG", "/dev/null",
            "no nvidia-container-cli is started; the key `debug` of the component runtime names a log"),
    honoured("ACCEPT_NVIDIA_VISIBLE_DEVICES_ENVVAR_WHEN_UNPRIVILEGED",
             "accept_nvidia_visible_devices_envvar_when_unprivileged"),
    honoured("ACCEPT_NVIDIA_VISIBLE_DEVICES_AS_VOLUME_MOUNTS", "accept_nvidia_visible_devices_as_volume_mounts"),
    honoured("CDI_ENABLED", "cdi"),
    honoured("ENABLE_CDI", "cdi"),
    refused("CDI_OUTPUT_DIR", "/var/run/cdi|/run/cdi", "use the key `folder` of the component cdi"),
    refused("CDI_KIND", "management.nvidia.com/gpu", "the mode `management` of the component cdi has its own kind"),
    needless("CREATE_DEVICE_NODES", "the component driver makes the device nodes, and CDI specs name them", "none"),
    honoured("NVIDIA_CONTAINER_TOOLKIT_OPT_IN_FEATURES"),
    honoured("RUNTIME_CONFIG", "containerd_config"),
    honoured("CONTAINERD_CONFIG", "containerd_config"),
    honoured("DOCKER_CONFIG", "docker_config"),
    honoured("RUNTIME_DROP_IN_CONFIG", "containerd_drop_in"),
    needless("RUNTIME_DROP_IN_CONFIG_HOST_PATH", kNoContainer),
    honoured("RUNTIME_EXECUTABLE_PATH", "containerd_program"),
    honoured("RUNTIME_SOCKET", "containerd_socket"),
    honoured("CONTAINERD_SOCKET", "containerd_socket"),
    honoured("DOCKER_SOCKET", "docker_socket"),
    honoured("RUNTIME_RESTART_MODE", "restart"),
    honoured("RUNTIME_ENABLE_CDI", "cdi"),
    needless("HOST_ROOT_MOUNT", kNoContainer),
    honoured("NVIDIA_RUNTIME_NAME", "names"),
    honoured("CONTAINERD_RUNTIME_CLASS", "names"),
    honoured("DOCKER_RUNTIME_NAME", "names"),
    honoured("NVIDIA_RUNTIME_SET_AS_DEFAULT", "set_as_default"),
    honoured("CONTAINERD_SET_AS_DEFAULT", "set_as_default"),
    honoured("DOCKER_SET_AS_DEFAULT", "set_as_default"),
    refused("RUNTIME_CONFIG_SOURCES", "command,file|file,command|command|file",
            "slipway reads what the running engine reads; `containerd_config` names another file"),
    refused("RUNTIME_CONFIG_SOURCE", "command,file|file,command|command|file",
            "slipway reads what the running engine reads; `containerd_config` names another file"),
    refused("CONTAINERD_USE_LEGACY_CONFIG", kOff, "slipway writes what the version of containerd's file has"),
    honoured("CONTAINERD_RUNTIME_TYPE", "runtime_type"),
    refused("RUNTIME_CONFIG_OVERRIDE", "{}",
            "NVIDIA's installer reads it without using it; a handler has all options of the engine's default handler"),
    refused("CONTAINERD_RUNTIME_CONFIG_OVERRIDE", "{}",
            "NVIDIA's installer reads it without using it; a handler has all options of the engine's default handler"),
    needless("CRIO_HOOKS_DIR", kNoHook),
    needless("CRIO_HOOK_FILENAME", kNoHook),
    refused("CRIO_CONFIG_MODE", "config", "slipway adds a handler to CRI-O; it has no hook"),
    needless("NVIDIA_VISIBLE_DEVICES", kNoContainer),
    needless("NVIDIA_DRIVER_CAPABILITIES", kNoContainer),
};

}  // namespace

std::span<const Switch> installer_variables() { return kVariables; }

Variables::Variables(const Spec& spec, const Environment& environment)
    : of_spec_(spec.value("env")), process_(environment) {
  if (!of_spec_.is_object()) of_spec_ = Json::object();
}

Variables::Found Variables::find(const Names& names) const {
  for (const std::string& name : names)
    if (const std::string value = of_spec_.value(name, ""); !value.empty())
      return {name, value, "spec.components.runtime.env." + name};
  for (const std::string& name : names)
    if (std::string value = process_(name); !value.empty()) return {name, value, "environment." + name};
  return {};
}

Error wrong_value(const Variables::Found& found, const std::string& expected) {
  return Error{ErrorCode::invalid,
               "the variable " + found.name + " is '" + found.value + "'; expected " + expected,
               found.where,
               "correct it or unset it; keys of the component runtime take precedence over variables",
               {}};
}

Result<bool> parse_flag(const Variables::Found& found) {
  for (const char* yes : {"1", "t", "T", "true", "TRUE", "True"})
    if (found.value == yes) return true;
  for (const char* no : {"0", "f", "F", "false", "FALSE", "False"})
    if (found.value == no) return false;
  return wrong_value(found, "true or false");
}

}  // namespace slipway::toolkit
