// SPDX-License-Identifier: Apache-2.0
// plugins/nvidia/config/config_map.hpp - files that may have a ConfigMap of Kubernetes around what is meant.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "nvidia/config/node.hpp"

namespace slipway::nvidia::config {

/// A config as it was read. What is wrong with it matters to those who choose it.
struct NamedConfig {
  Node node;
  std::vector<std::string> warnings = {};
  std::optional<Error> problem = {};
};

/// Named configs; a single one has the name "".
using Configs = std::map<std::string, NamedConfig>;

/// The config that a text is.
NamedConfig read_config(const std::string& text, const std::string& file, const ScalarSource* source = nullptr);

/// One config, or the entries of a ConfigMap, with their places in the file.
/// @param text  of the file; empty: the document is a part of a host spec
/// Errors: `invalid` a ConfigMap without data, another object of Kubernetes.
Result<Configs> split_configs(const NamedConfig& document, const std::string& text);

/// Which of several configs counts, and who says so.
struct Choice {
  std::string name;    ///< empty: "default", "any", "config.yaml", then the only one
  std::string where;   ///< where it is said, for errors
  std::string remedy;  ///< what a user does to choose: "set config_name to one of"
};

/// Errors: `not_found` with the names that there are; what is wrong with the one that is chosen.
Result<const NamedConfig*> choose_config(const Configs& configs, const Choice& choice);

/// For who reads one file and lets nobody choose: the config in it, or that of its ConfigMap.
/// Errors: those of all calls above.
Result<NamedConfig> only_config(const std::string& text, const std::string& file);

/// The text below data.KEY where the file is a ConfigMap, with as many line breaks before each of its lines as the file
/// has: places in it are those in the file. Empty: the file is no ConfigMap. @param usual_key  counts where there are
/// several Errors: `invalid`, `not_found` as above.
Result<std::optional<std::string>> text_in_config_map(const std::string& text, const std::string& file,
                                                      const std::string& usual_key);

}  // namespace slipway::nvidia::config
