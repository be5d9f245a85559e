// SPDX-License-Identifier: Apache-2.0
// plugins/toolkit/runtime/settings.hpp - what the component runtime is told: by its keys, by the variables that
// NVIDIA's installer of the container toolkit takes, and what holds where nobody says anything.
#pragma once

#include <map>
#include <string>
#include <vector>

#include <slipway/json.hpp>
#include <slipway/result.hpp>
#include <slipway/spec.hpp>

#include "toolkit/environment.hpp"

namespace slipway::toolkit {

/// Where somebody says that an engine has its things; empty members are found out.
struct EnginePlace {
  std::string config;   ///< its configuration, or the template that it is made from
  std::string drop_in;  ///< the file to write instead
  std::string socket;
  std::string program;
};

/// See toolkit.component.yaml for what each key means.
struct RuntimeSettings {
  bool nri = false;  ///< `mode: nri`
  std::string nri_socket;
  std::string kubelet_root;
  std::vector<std::string> engines;  ///< empty: those that are installed
  std::vector<std::string> names;    ///< at least one
  bool set_as_default = false;
  std::string runtime_path;  ///< "auto" or absolute
  std::string runtime_type;  ///< of containerd's handlers; empty: inherited
  bool cdi = true;
  Json requests = Json::array();               ///< rules, as read_request_rules() takes them
  bool untouched = false;                      ///< no engine's configuration is changed
  Json toolkit_config = Json::object();        ///< what is set in config.toml, nested
  std::vector<std::string> toolkit_keys;       ///< of the spec, that say so
  std::vector<std::string> toolkit_variables;  ///< that say so
  std::vector<std::string> notes;              ///< variables without an effect, and names that are none
  bool replace_edits = false;                  ///< `on_drift: replace`
  bool restart = true;                         ///< false: somebody else restarts the engine
  bool no_systemd = false;                     ///< a live machine without it; a fact, by which nobody is restarted
  std::map<std::string, EnginePlace> places;   ///< by engine: "containerd", "crio", "docker"

  EnginePlace place(const std::string& engine) const;
};

/// For each setting: the component's key, else a variable in its key `env`, else one of the environment, else the
/// default. Variables are looked up in the order of NVIDIA's installer. Those that name no engine (RUNTIME_CONFIG) are
/// about the only one of `engines` or RUNTIME. Errors: `invalid` a value that is none, or no such single engine;
/// `usage` a variable that is refused, and what contradicts itself.
Result<RuntimeSettings> read_settings(const Spec& spec, const Environment& environment);

// What plan() needs of it, as facts. `places` is not part of it: detect() has looked there.
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE_WITH_DEFAULT(RuntimeSettings, nri, nri_socket, names, set_as_default, runtime_type,
                                                cdi, requests, untouched, toolkit_config, toolkit_keys,
                                                toolkit_variables, notes, replace_edits, restart)

}  // namespace slipway::toolkit
