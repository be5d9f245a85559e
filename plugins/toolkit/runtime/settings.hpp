// SPDX-License-Identifier: Apache-2.0
// plugins/toolkit/runtime/settings.hpp - the settings of the component runtime: from its keys, from the variables of
// NVIDIA's installer of the container toolkit, and the defaults.
#pragma once

#include <map>
#include <string>
#include <vector>

#include <slipway/json.hpp>
#include <slipway/result.hpp>
#include <slipway/spec.hpp>

#include "toolkit/environment.hpp"

namespace slipway::toolkit {

/// Configured places of an engine's files; empty members are detected.
struct EnginePlace {
  std::string config;   ///< its configuration, or the template for it
  std::string drop_in;  ///< the file to write instead
  std::string socket;
  std::string program;
};

/// See toolkit.component.yaml for what each key means.
struct RuntimeSettings {
  bool nri = false;  ///< `mode: nri`
  std::string nri_socket;
  std::string kubelet_root;
  std::vector<std::string> engines;  ///< empty: all installed ones
  std::vector<std::string> names;    ///< at least one
  bool set_as_default = false;
  std::string runtime_path;  ///< "auto" or absolute
  std::string runtime_type;  ///< for containerd's handlers; empty: inherited
  bool cdi = true;
  Json requests = Json::array();               ///< rules in the form of read_request_rules()
  bool untouched = false;                      ///< no engine's configuration is changed
  Json toolkit_config = Json::object();        ///< settings for config.toml, nested
  std::vector<std::string> toolkit_keys;       ///< keys of the spec that set them
  std::vector<std::string> toolkit_variables;  ///< that say so
  std::vector<std::string> notes;              ///< variables without effect, and unknown names
  bool replace_edits = false;                  ///< `on_drift: replace`
  bool restart = true;                         ///< false: the user restarts the engine
  bool no_systemd = false;                     ///< a live machine without systemd; a fact, which prevents restarts
  std::map<std::string, EnginePlace> places;   ///< by engine: "containerd", "crio", "docker"

  EnginePlace place(const std::string& engine) const;
};

/// Reads each setting from the component's key, else a variable in its key `env`, else one of the environment, else the
/// default. Variables are looked up in the order of NVIDIA's installer. Variables without an engine in their name
/// (RUNTIME_CONFIG) apply to the only one of `engines` or RUNTIME. Errors: `invalid` an invalid value, or there is no
/// single engine; `usage` a refused variable, or settings that contradict each other.
Result<RuntimeSettings> read_settings(const Spec& spec, const Environment& environment);

// The settings that plan() needs, as facts. `places` is left out: detect() has used it.
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE_WITH_DEFAULT(RuntimeSettings, nri, nri_socket, names, set_as_default, runtime_type,
                                                cdi, requests, untouched, toolkit_config, toolkit_keys,
                                                toolkit_variables, notes, replace_edits, restart)

}  // namespace slipway::toolkit
