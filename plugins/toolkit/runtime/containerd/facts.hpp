// SPDX-License-Identifier: Apache-2.0
// plugins/toolkit/runtime/containerd/facts.hpp - the data about containerd and the file to change, as the facts between
// detect and plan.
#pragma once

#include <string>
#include <vector>

#include <slipway/json.hpp>

#include "toolkit/runtime/engine.hpp"

namespace slipway::toolkit {

/// The way in which the configuration is changed.
struct ContainerdEdit {
  std::string kind;         ///< "merge" into the file, slipway's own "file", "template" of K3s and RKE2, or "none"
  std::string path;         ///< the file
  bool has_version = true;  ///< merge: the file has a version, or slipway starts it
  Json table = {};          ///< file: the plugin's whole table, if containerd takes it from one file only
  Json imports = {};        ///< file: new value of the key in `top`; null: unchanged
  Json top_version = {};    ///< file: version for `top`; null: none
  std::string top;
  std::vector<std::string> left_out;  ///< template: handlers that the distribution adds by itself
};
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE_WITH_DEFAULT(ContainerdEdit, kind, path, has_version, table, imports, top_version,
                                                top, left_out)

struct ContainerdFacts {
  std::string kind;   ///< "containerd", or the distribution that includes it
  std::string title;  ///< its usual name
  std::string version;
  std::string program;
  std::string unit;
  std::string socket;
  std::string config;
  int config_version = 2;
  Json base = Json::object();  ///< the handler to inherit from
  std::string runc;            ///< the type of the handler runc, which must be set beside slipway's
  bool cdi_is_on = false;
  bool cdi_is_off = false;    ///< the user has disabled it
  bool default_acts = false;  ///< the default handler is a runtime for GPUs already
  bool checkable = false;     ///< containerd can check the changed configuration before it is restarted
  ContainerdEdit edit;
  std::vector<std::string> notes;
  std::string runtime;  ///< of find_runtime()
  Json low_level;       ///< of low_level_of()
  bool cri_works = false;

  EngineVersion engine() const { return parse_engine_version(version); }
};
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE_WITH_DEFAULT(ContainerdFacts, kind, title, version, program, unit, socket, config,
                                                config_version, base, runc, cdi_is_on, cdi_is_off, default_acts,
                                                checkable, edit, notes, runtime, low_level, cri_works)

}  // namespace slipway::toolkit
