// SPDX-License-Identifier: Apache-2.0
#include "toolkit/runtime/toolkit_config.hpp"

#include <array>

#include "toolkit/runtime/engine.hpp"

namespace slipway::toolkit {
namespace {

using nvidia::honoured;
using nvidia::needless;
using nvidia::refused;
using nvidia::Switch;

constexpr std::string_view kNoCli = "slipway starts no nvidia-container-cli";
constexpr std::string_view kNoTegra = "Tegra is not supported";
constexpr std::string_view kAccepts = "accept-nvidia-visible-devices-";
constexpr std::size_t kMostWarnings = 16;

constexpr std::array kKeys{
    honoured("disable-require", "disable_require"),
    honoured("swarm-resource"),
    honoured("accept-nvidia-visible-devices-envvar-when-unprivileged",
             "accept_nvidia_visible_devices_envvar_when_unprivileged"),
    honoured("accept-nvidia-visible-devices-as-volume-mounts", "accept_nvidia_visible_devices_as_volume_mounts"),
    needless("supported-driver-capabilities", "a CDI spec has the whole driver",
             "compat32,compute,display,graphics,ngx,utility,video|all"),
    honoured("nvidia-container-cli.root"),
    needless("nvidia-container-cli.path", kNoCli),
    needless("nvidia-container-cli.environment", kNoCli),
    needless("nvidia-container-cli.debug", kNoCli),
    needless("nvidia-container-cli.ldcache", kNoCli),
    needless("nvidia-container-cli.load-kmods", kNoCli, "true"),
    needless("nvidia-container-cli.no-pivot", kNoCli, "false"),
    honoured("nvidia-container-cli.no-cgroups", "no_cgroups"),
    needless("nvidia-container-cli.user", kNoCli, "root:video"),
    needless("nvidia-container-cli.ldconfig", "slipway-cdi-hook writes the linker's cache itself",
             "@/sbin/ldconfig|@/sbin/ldconfig.real"),
    honoured("nvidia-container-runtime.debug", "debug"),
    honoured("nvidia-container-runtime.log-level", "log_level"),
    honoured("nvidia-container-runtime.runtimes"),
    honoured("nvidia-container-runtime.mode"),
    refused("nvidia-container-runtime.modes.csv.mount-spec-path",
            "/etc/nvidia-container-runtime/host-files-for-container.d", kNoTegra),
    refused("nvidia-container-runtime.modes.csv.compat-container-root", "", kNoTegra),
    honoured("nvidia-container-runtime.modes.cdi.spec-dirs"),
    honoured("nvidia-container-runtime.modes.cdi.default-kind"),
    honoured("nvidia-container-runtime.modes.cdi.annotation-prefixes"),
    honoured("nvidia-container-runtime.modes.jit-cdi.nvcdi-feature-flags"),
    honoured("nvidia-container-runtime.modes.jit-cdi.nvcdi-disable-hooks"),
    refused("nvidia-container-runtime.modes.legacy.cuda-compat-mode", "ldconfig",
            "there is no legacy mode; `disable_cuda_compat_lib_hook` switches the hook off"),
    needless("nvidia-container-runtime-hook.path", "slipway has no hook of the legacy mode",
             "nvidia-container-runtime-hook"),
    needless("nvidia-container-runtime-hook.skip-mode-detection", "slipway has no hook of the legacy mode",
             "false|true"),
    needless("nvidia-ctk.path", "the hooks are slipway-cdi-hook's", "nvidia-ctk"),
    refused("features.allow-cuda-compat-libs-from-container", "false", "the hook for CUDA compatibility decides that"),
    refused("features.allow-ldconfig-from-container", "false",
            "slipway runs no program of a container's image, such as its ldconfig"),
    needless("features.allow-unknown-oci-spec-fields", "members of a bundle that are not known are kept", "false|true"),
    honoured("features.disable-cuda-compat-lib-hook", "disable_cuda_compat_lib_hook"),
    needless("features.disable-imex-channel-creation", "slipway-runtime creates no channels", "false|true"),
    honoured("features.ignore-imex-channel-requests"),
    honoured("features.no-additional-gids-for-device-nodes"),
    honoured("slipway.requests", "requests"),
};

/// Keys that apply if specs are generated at a container's start; otherwise the component cdi generates them, and has
/// its own keys.
constexpr std::array kOfJitCdi{
    needless("nvidia-container-cli.root",
             "use the key `driver_root` of the component cdi, which needs no mode = \"jit-cdi\"",
             "/|/run/nvidia/driver"),
    needless("nvidia-container-runtime.modes.jit-cdi.nvcdi-feature-flags", "the mode is not jit-cdi"),
    needless("nvidia-container-runtime.modes.jit-cdi.nvcdi-disable-hooks", "the mode is not jit-cdi"),
};

/// Keys that apply only when slipway-runtime creates containers, not with NRI.
constexpr std::array kNotOfNri{
    needless("nvidia-container-runtime.debug", "the service writes to its journal", "/dev/null"),
    needless("nvidia-container-runtime.mode", "the service gives devices by the CDI specs of the host", "auto|cdi"),
    needless("nvidia-container-runtime.runtimes", "the engine starts its own runtime",
             R"(["runc","crun"]|["docker-runc","runc","crun"])"),
    needless("nvidia-container-cli.no-cgroups", "an engine adds the rules for devices that it has by NRI itself",
             "false"),
};

using Path = std::vector<std::string>;

struct FlagKey {
  const char* key;  // of the spec
  Path path;
  const char* variable;  // "": there is no variable
};
const std::vector<FlagKey>& flag_keys() {
  static const std::vector<FlagKey> keys{
      {"disable_require", {"disable-require"}, ""},
      {"no_cgroups", {"nvidia-container-cli", "no-cgroups"}, ""},
      {"disable_cuda_compat_lib_hook", {"features", "disable-cuda-compat-lib-hook"}, ""},
      {"accept_nvidia_visible_devices_envvar_when_unprivileged",
       {std::string(kAccepts) + "envvar-when-unprivileged"},
       "ACCEPT_NVIDIA_VISIBLE_DEVICES_ENVVAR_WHEN_UNPRIVILEGED"},
      {"accept_nvidia_visible_devices_as_volume_mounts",
       {std::string(kAccepts) + "as-volume-mounts"},
       "ACCEPT_NVIDIA_VISIBLE_DEVICES_AS_VOLUME_MOUNTS"}};
  return keys;
}

std::string plain(const Json& value) {
  if (value.is_string()) return value.get<std::string>();
  return value.is_array() && value.empty() ? std::string() : canonical(value);
}

/// Adds the values of the spec or a variable to the file's tables.
class SettingsWriter {
 public:
  SettingsWriter(const Spec& spec, const Variables& variables, bool nri)
      : spec_(spec), variables_(variables), nri_(nri) {}

  Status flags() {
    for (const FlagKey& one : flag_keys()) {
      if (spec_.has(one.key)) {
        SLIPWAY_CHECK(set_key(one.key, one.path, spec_.flag(one.key)));
        continue;
      }
      if (*one.variable == '\0') continue;
      const auto found = variables_.find({one.variable});
      if (found.name.empty()) continue;
      SLIPWAY_TRY(on, parse_flag(found));
      SLIPWAY_CHECK(set_variable(found, one.path, on));
    }
    return {};
  }

  /// @param words  the valid values; empty: a path
  Status text(const char* key, const Path& path, const char* variable, const std::vector<std::string>& words) {
    if (*key != '\0' && spec_.has(key)) return set_key(key, path, spec_.text(key));
    const auto found = variables_.find({variable});
    if (found.name.empty()) return {};
    if (words.empty() && !found.value.starts_with('/')) return wrong_value(found, "an absolute path");
    if (!words.empty() && std::ranges::count(words, found.value) == 0)
      return wrong_value(found, "one of " + joined(words));
    return set_variable(found, path, found.value);
  }

  Status default_kind() {
    const auto found = variables_.find({"NVIDIA_CONTAINER_RUNTIME_MODES_CDI_DEFAULT_KIND"});
    if (found.name.empty()) return {};
    const auto slash = found.value.find('/');
    if (slash == 0 || slash == std::string::npos || slash + 1 == found.value.size())
      return wrong_value(found, "VENDOR/CLASS");
    if (found.value.starts_with("management.nvidia.com/"))
      return Error{ErrorCode::usage,
                   found.name + "=" + found.value +
                       " would make each request one for management devices, which only rules may allow",
                   found.where,
                   "remove it; the key `requests` of the component runtime says who may request such devices",
                   {}};
    return set_variable(found, {"nvidia-container-runtime", "modes", "cdi", "default-kind"}, found.value);
  }

  Status runtimes() {
    const auto found = variables_.find({"NVIDIA_CONTAINER_RUNTIME_RUNTIMES"});
    const auto programs = split_list(found.value);
    return programs.empty() ? Status() : set_variable(found, {"nvidia-container-runtime", "runtimes"}, programs);
  }

  Status features() {
    const auto found = variables_.find({"NVIDIA_CONTAINER_TOOLKIT_OPT_IN_FEATURES"});
    for (const std::string& name : split_list(found.value)) {
      const Switch* const known = nvidia::find_switch(kKeys, "features." + name);
      if (known == nullptr || known->treatment == Switch::Treatment::refused)
        return Error{
            ErrorCode::usage,
            found.name + " asks for the feature " + name +
                (known == nullptr ? ", which NVIDIA's toolkit does not have" : ": " + std::string(known->reason)),
            found.where,
            "remove the feature",
            {}};
      if (known->treatment == Switch::Treatment::honoured) SLIPWAY_CHECK(set_variable(found, {"features", name}, true));
    }
    return {};
  }

  ToolkitConfig taken() && { return std::move(config_); }

 private:
  Status set_key(const std::string& key, const Path& path, const Json& value) {
    config_.keys.push_back(key);
    return set(key, "spec.components.runtime." + key, path, value);
  }
  Status set_variable(const Variables::Found& found, const Path& path, const Json& value) {
    config_.variables.push_back(found.name);
    return set(found.name + "=" + found.value, found.where, path, value);
  }

  Status set(const std::string& what, const std::string& where, const Path& path, const Json& value) {
    const Switch* const without = nri_ ? nvidia::find_switch(kNotOfNri, joined(path, ".")) : nullptr;
    if (without != nullptr && nvidia::asks_for_something(*without, plain(value)))
      return Error{ErrorCode::unsupported,
                   what + " has no effect with `mode: nri`: " + std::string(without->reason),
                   where,
                   "remove it, or write mode: config",
                   {}};
    set_path(config_.set, path, value);
    return {};
  }

  const Spec& spec_;
  const Variables& variables_;
  bool nri_;
  ToolkitConfig config_;
};

/// The program that reads the file.
struct Reader {
  bool nri = false;          ///< the NRI service; else slipway-runtime
  bool makes_specs = false;  ///< the mode is jit-cdi

  const Switch* find(const std::string& key) const {
    const Switch* found = nri ? nvidia::find_switch(kNotOfNri, key) : nullptr;
    if (found == nullptr && !makes_specs) found = nvidia::find_switch(kOfJitCdi, key);
    return found != nullptr ? found : nvidia::find_switch(kKeys, key);
  }
};

void add_warnings(const Json& table, const std::string& before, const Reader& reader,
                  std::vector<std::string>& warnings) {
  for (const auto& [name, value] : table.items()) {
    const std::string key = before + name;
    const Switch* const known = reader.find(key);
    if (known == nullptr && value.is_object()) {
      add_warnings(value, key + ".", reader, warnings);
      continue;
    }
    if (warnings.size() == kMostWarnings) return;
    if (known == nullptr)
      warnings.push_back(std::string(kToolkitConfig) + " has the key " + key +
                         ", which is not a setting of NVIDIA's toolkit" + nvidia::meant(kKeys, key));
    else if (known->treatment != Switch::Treatment::honoured && nvidia::asks_for_something(*known, plain(value)))
      warnings.push_back(key + " in " + kToolkitConfig + " has no effect " +
                         (reader.nri ? "with `mode: nri`: " : "on slipway-runtime: ") + std::string(known->reason));
  }
}

}  // namespace

std::span<const Switch> toolkit_config_keys() { return kKeys; }

Result<ToolkitConfig> read_toolkit_config(const Spec& spec, const Variables& variables, bool nri) {
  SettingsWriter taker(spec, variables, nri);
  SLIPWAY_CHECK(taker.flags());
  SLIPWAY_CHECK(taker.text("log_level", {"nvidia-container-runtime", "log-level"}, "NVIDIA_CONTAINER_RUNTIME_LOG_LEVEL",
                           {"debug", "info", "warning", "error"}));
  SLIPWAY_CHECK(taker.text("debug", {"nvidia-container-runtime", "debug"}, "NVIDIA_CONTAINER_RUNTIME_DEBUG", {}));
  SLIPWAY_CHECK(taker.text("", {"nvidia-container-runtime", "mode"}, "NVIDIA_CONTAINER_RUNTIME_MODE",
                           {"auto", "cdi", "jit-cdi"}));
  SLIPWAY_CHECK(taker.default_kind());
  SLIPWAY_CHECK(taker.runtimes());
  SLIPWAY_CHECK(taker.features());
  return std::move(taker).taken();
}

std::vector<std::string> toolkit_config_warnings(const Json& file, bool nri) {
  std::vector<std::string> warnings;
  const bool makes_specs = !nri && at_path(file, {"nvidia-container-runtime", "mode"}) == "jit-cdi";
  if (file.is_object()) add_warnings(file, "", {.nri = nri, .makes_specs = makes_specs}, warnings);
  return warnings;
}

}  // namespace slipway::toolkit
