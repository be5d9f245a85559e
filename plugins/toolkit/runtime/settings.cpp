// SPDX-License-Identifier: Apache-2.0
#include "toolkit/runtime/settings.hpp"

#include <cctype>

#include "toolkit/runtime/request_rules.hpp"

namespace slipway::toolkit {
namespace {

using Names = std::vector<std::string>;

/// Variables of the spec's `env`, then those of the process.
class Variables {
 public:
  Variables(const Spec& spec, const Environment& environment) : of_spec_(spec.value("env")), process_(environment) {}

  /// The first of `names` that is set, and which one that was.
  struct Found {
    std::string name;
    std::string value;
  };
  Found find(const Names& names) const {
    for (const std::string& name : names)
      if (const std::string value = of_spec_.is_object() ? of_spec_.value(name, "") : ""; !value.empty())
        return {name, value};
    for (const std::string& name : names)
      if (std::string value = process_(name); !value.empty()) return {name, value};
    return {};
  }

 private:
  Json of_spec_;
  const Environment& process_;
};

Error no_value(const Variables::Found& found, const std::string& expected) {
  return Error{ErrorCode::invalid,
               "the variable " + found.name + " is '" + found.value + "', and " + expected + " was expected",
               "environment " + found.name,
               "correct it or unset it; keys of the component runtime count before variables",
               {}};
}

/// As Go's strconv.ParseBool reads it.
Result<bool> parse_flag(const Variables::Found& found) {
  for (const char* yes : {"1", "t", "T", "true", "TRUE", "True"})
    if (found.value == yes) return true;
  for (const char* no : {"0", "f", "F", "false", "FALSE", "False"})
    if (found.value == no) return false;
  return no_value(found, "true or false");
}

Result<bool> flag(const Spec& spec, const std::string& key, const Variables& variables, const Names& names,
                  bool otherwise) {
  if (spec.has(key)) return spec.flag(key);
  const auto found = variables.find(names);
  return found.name.empty() ? Result<bool>(otherwise) : parse_flag(found);
}

/// A path, from its key or a variable; empty where nobody says one.
Result<std::string> path(const Spec& spec, const std::string& key, const Variables& variables, const Names& names) {
  if (spec.has(key)) return spec.text(key);
  const auto found = variables.find(names);
  if (!found.name.empty() && !found.value.starts_with('/')) return no_value(found, "an absolute path");
  return found.value;
}

Result<Names> read_engines(const Spec& spec, const Variables& variables) {
  if (Names engines = spec.texts("engines"); !engines.empty()) return engines;
  const auto found = variables.find({"RUNTIME"});
  if (found.name.empty()) return Names{};
  for (const char* known : {"containerd", "crio", "docker"})
    if (found.value == known) return Names{found.value};
  return no_value(found, "containerd, crio or docker");
}

/// The variables that say something of "the" engine.
Status expect_one_engine(const Names& engines, const Variables& variables) {
  if (engines.size() == 1) return {};
  for (const char* name : {"RUNTIME_CONFIG", "RUNTIME_DROP_IN_CONFIG", "RUNTIME_SOCKET", "RUNTIME_EXECUTABLE_PATH"})
    if (const auto found = variables.find({name}); !found.name.empty())
      return Error{ErrorCode::invalid,
                   "the variable " + found.name + " is set, and nothing says which engine it is about",
                   "environment " + found.name,
                   "name one engine: the key `engines` of the component runtime, or the variable RUNTIME",
                   {}};
  return {};
}

/// Distributions of Kubernetes bring containerd along.
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
  return no_value(found, "systemd, signal or none");
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
  SLIPWAY_TRY(cdi, flag(spec, "cdi", variables, {"RUNTIME_ENABLE_CDI"}, true));
  settings.cdi = cdi;
  SLIPWAY_TRY(restart, read_restart(spec, variables));
  settings.restart = restart;
  settings.runtime_path = spec.has("runtime_path") ? spec.text("runtime_path") : "auto";
  settings.runtime_type =
      spec.has("runtime_type") ? spec.text("runtime_type") : variables.find({"CONTAINERD_RUNTIME_TYPE"}).value;
  if (const Json rules = spec.value("requests"); !rules.is_null()) settings.requests = rules;
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
