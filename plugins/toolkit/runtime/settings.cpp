// SPDX-License-Identifier: Apache-2.0
#include "toolkit/runtime/settings.hpp"

#include <algorithm>
#include <cctype>

#include <slipway/text.hpp>

#include "toolkit/runtime/request_rules.hpp"
#include "toolkit/runtime/toolkit_config.hpp"
#include "toolkit/runtime/variables.hpp"

namespace slipway::toolkit {
namespace {

using Names = Variables::Names;

Result<bool> flag(const Spec& spec, const std::string& key, const Variables& variables, const Names& names,
                  bool otherwise) {
  if (spec.has(key)) return spec.flag(key);
  const auto found = variables.find(names);
  return found.name.empty() ? Result<bool>(otherwise) : parse_flag(found);
}

/// Reads a path from its key or a variable; empty if neither is set. Not every engine has a key for each of its places.
Result<std::string> path(const Spec& spec, const std::string& key, const Variables& variables, const Names& names) {
  if (spec.json().contains(key)) return spec.text(key);
  const auto found = variables.find(names);
  if (!found.name.empty() && !found.value.starts_with('/')) return wrong_value(found, "an absolute path");
  return found.value;
}

Error contradiction(const std::string& what, const std::string& where, const std::string& next) {
  return Error{ErrorCode::usage, what, where, next, {}};
}

/// Rejects keys about changes to engines if no engine is changed.
Status expect_no_engine_keys(const Spec& spec, const std::string& why) {
  for (const char* key : {"names", "set_as_default", "runtime_type", "cdi", "restart", "containerd_config",
                          "containerd_drop_in", "crio_drop_in", "docker_config"})
    if (spec.has(key))
      return contradiction(
          std::string(key) + " has no effect, since " + why + " keeps slipway from changing any engine",
          "spec.components.runtime." + std::string(key), "remove " + std::string(key) + ", or name the engines");
  return {};
}

/// True when the engines must not be changed: by an empty list of them, or by NO_RUNTIME_CONFIG.
Result<bool> read_untouched(const Spec& spec, const Variables& variables) {
  const bool listed = spec.has("engines");
  const bool empty = listed && spec.texts("engines").empty();
  const auto found = variables.find({"NO_RUNTIME_CONFIG"});
  bool forbidden = false;
  if (!found.name.empty()) {
    SLIPWAY_TRY(on, parse_flag(found));
    forbidden = on;
  }
  if (forbidden && listed && !empty)
    return contradiction(
        "NO_RUNTIME_CONFIG=" + found.value + " keeps slipway from changing any engine, but `engines` names some",
        "spec.components.runtime.engines", "remove one of the two");
  if (!empty && !forbidden) return false;
  if (spec.text("mode") != "nri")
    SLIPWAY_CHECK(expect_no_engine_keys(spec, empty ? "`engines: []`" : "NO_RUNTIME_CONFIG=" + found.value));
  return true;
}

/// True when a key also has the variable's setting; the core and the service read the key.
bool has_key_for_it(const Spec& spec, const std::string& name, const std::string& value) {
  if (name == "ENABLE_NRI_PLUGIN") return spec.text("mode") == "nri";
  return name == "NRI_SOCKET" && spec.text("nri_socket") == value;
}

Result<Names> check_variables(const Spec& spec, const Variables& variables) {
  Json env = variables.of_spec();
  for (const char* name : {"ENABLE_NRI_PLUGIN", "NRI_SOCKET"})
    if (has_key_for_it(spec, name, env.value(name, ""))) env.erase(name);
  SLIPWAY_CHECK(nvidia::check_process(installer_variables(), [&](const std::string& name) {
    const std::string value = variables.of_process(name);
    return has_key_for_it(spec, name, value) ? std::string() : value;
  }));
  return nvidia::check_switches(installer_variables(), env, "nvidia-ctk-installer", "spec.components.runtime.env");
}

/// Adds namespaces whose pods may request management devices, like the installer's NRI plugin.
void add_management_namespaces(const Variables& variables, RuntimeSettings& settings) {
  Names namespaces = split_list(variables.find({"NRI_MANAGEMENT_CDI_DEVICE_NAMESPACES"}).value);
  if (const auto own = variables.find({"NRI_NAMESPACE"}); !own.name.empty()) namespaces.push_back(own.value);
  if (settings.nri && !namespaces.empty())
    settings.requests.push_back(
        {{"namespaces", namespaces}, {"devices", Json::array({"management.nvidia.com/gpu=*"})}});
  if (const auto found = variables.find({"NRI_MANAGEMENT_CDI_DEVICE_NAMESPACES", "NRI_NAMESPACE"});
      !settings.nri && !found.name.empty())
    settings.notes.push_back(found.name + " has no effect without `mode: nri`");
}

Result<Names> read_engines(const Spec& spec, const Variables& variables) {
  if (Names engines = spec.texts("engines"); !engines.empty()) return engines;
  const auto found = variables.find({"RUNTIME"});
  if (found.name.empty()) return Names{};
  for (const char* known : {"containerd", "crio", "docker"})
    if (found.value == known) return Names{found.value};
  return wrong_value(found, "containerd, crio or docker");
}

/// Checks variables that apply to "the" engine.
Status expect_one_engine(const Names& engines, const Variables& variables) {
  if (engines.size() == 1) return {};
  for (const char* name : {"RUNTIME_CONFIG", "RUNTIME_DROP_IN_CONFIG", "RUNTIME_SOCKET", "RUNTIME_EXECUTABLE_PATH"})
    if (const auto found = variables.find({name}); !found.name.empty())
      return Error{ErrorCode::invalid,
                   "the variable " + found.name + " is set, but no setting says which engine it applies to",
                   found.where,
                   "name one engine: the key `engines` of the component runtime, or the variable RUNTIME",
                   {}};
  return {};
}

/// Distributions of Kubernetes include containerd.
std::string family_of(const std::string& engine) {
  return engine == "crio" || engine == "docker" || engine == "podman" ? engine : "containerd";
}

Result<EnginePlace> read_place(const Spec& spec, const Variables& variables, const std::string& engine, bool only) {
  std::string capitals = engine;
  for (char& letter : capitals) letter = static_cast<char>(std::toupper(static_cast<unsigned char>(letter)));
  const auto names = [&](const std::string& what) {
    Names list;
    if (only) list.push_back("RUNTIME_" + what);
    if (what == "CONFIG" || what == "SOCKET") list.push_back(capitals + "_" + what);
    return list;
  };
  EnginePlace place;
  SLIPWAY_TRY(config, path(spec, engine + "_config", variables, names("CONFIG")));
  SLIPWAY_TRY(drop_in, path(spec, engine + "_drop_in", variables, names("DROP_IN_CONFIG")));
  SLIPWAY_TRY(socket, path(spec, engine + "_socket", variables, names("SOCKET")));
  SLIPWAY_TRY(program, path(spec, engine + "_program", variables, names("EXECUTABLE_PATH")));
  return EnginePlace{config, drop_in, socket, program};
}

Result<bool> read_restart(const Spec& spec, const Variables& variables) {
  if (spec.has("restart")) return spec.flag("restart");
  const auto found = variables.find({"RUNTIME_RESTART_MODE"});
  if (found.name.empty() || found.value == "systemd" || found.value == "signal") return true;
  if (found.value == "none") return false;
  return wrong_value(found, "systemd, signal or none");
}

}  // namespace

EnginePlace RuntimeSettings::place(const std::string& engine) const {
  const auto found = places.find(engine);
  return found == places.end() ? EnginePlace{} : found->second;
}

Result<RuntimeSettings> read_settings(const Spec& spec, const Environment& environment) {
  const Variables variables(spec, environment);
  RuntimeSettings settings;
  settings.nri = spec.text("mode") == "nri";
  settings.nri_socket = spec.text("nri_socket");
  settings.kubelet_root = spec.text("kubelet_root");
  SLIPWAY_TRY(notes, check_variables(spec, variables));
  settings.notes = notes;
  SLIPWAY_TRY(untouched, read_untouched(spec, variables));
  settings.untouched = untouched;
  SLIPWAY_TRY(toolkit, read_toolkit_config(spec, variables, settings.nri));
  settings.toolkit_config = toolkit.set;
  settings.toolkit_keys = toolkit.keys;
  settings.toolkit_variables = toolkit.variables;
  SLIPWAY_TRY(engines, read_engines(spec, variables));
  settings.engines = engines;
  SLIPWAY_CHECK(expect_one_engine(engines, variables));
  settings.names = spec.texts("names");
  if (settings.names.empty()) {
    const auto name = variables.find({"NVIDIA_RUNTIME_NAME", "CONTAINERD_RUNTIME_CLASS", "DOCKER_RUNTIME_NAME"});
    settings.names = {name.name.empty() ? "nvidia" : name.value};
  }
  SLIPWAY_TRY(as_default,
              flag(spec, "set_as_default", variables,
                   {"NVIDIA_RUNTIME_SET_AS_DEFAULT", "CONTAINERD_SET_AS_DEFAULT", "DOCKER_SET_AS_DEFAULT"}, false));
  settings.set_as_default = as_default;
  SLIPWAY_TRY(cdi, flag(spec, "cdi", variables, {"RUNTIME_ENABLE_CDI", "CDI_ENABLED", "ENABLE_CDI"}, true));
  settings.cdi = cdi;
  settings.replace_edits = spec.text("on_drift") == "replace";
  SLIPWAY_TRY(restart, read_restart(spec, variables));
  settings.restart = restart;
  settings.runtime_path = spec.has("runtime_path") ? spec.text("runtime_path") : "auto";
  settings.runtime_type =
      spec.has("runtime_type") ? spec.text("runtime_type") : variables.find({"CONTAINERD_RUNTIME_TYPE"}).value;
  if (const Json rules = spec.value("requests"); !rules.is_null()) settings.requests = rules;
  add_management_namespaces(variables, settings);
  if (auto rules = read_request_rules(settings.requests); !rules) {
    Error error = std::move(rules).error();
    error.where = "spec.components.runtime.requests";
    error.next = "correct the rule; docs/components/runtime.md has an example";
    return error;
  }
  for (const char* engine : {"containerd", "crio", "docker"}) {
    const bool only = engines.size() == 1 && family_of(engines.front()) == engine;
    SLIPWAY_TRY(place, read_place(spec, variables, engine, only));
    settings.places[engine] = place;
  }
  return settings;
}

}  // namespace slipway::toolkit
