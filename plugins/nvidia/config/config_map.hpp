// SPDX-License-Identifier: Apache-2.0
// plugins/nvidia/config/config_map.hpp - files whose content may be wrapped in a Kubernetes ConfigMap.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "nvidia/config/node.hpp"

namespace slipway::nvidia::config {

/// A parsed config. Its problem matters only if the config is chosen.
struct NamedConfig {
  Node node;
  std::vector<std::string> warnings = {};
  std::optional<Error> problem = {};
};

/// Configs by name; a single one has the name "".
using Configs = std::map<std::string, NamedConfig>;

/// Parses a text as a config.
NamedConfig read_config(const std::string& text, const std::string& file, const ScalarSource* source = nullptr);

/// Returns one config, or the entries of a ConfigMap, with their places in the file.
/// @param text  of the file; empty: the document is a part of a host spec
/// Errors: `invalid` a ConfigMap without data, another object of Kubernetes.
Result<Configs> split_configs(const NamedConfig& document, const std::string& text);

/// The name of the chosen config, and the source of the choice.
struct Choice {
  std::string name;    ///< empty: "default", "any", "config.yaml", then the only one
  std::string where;   ///< the place of the choice, for errors
  std::string remedy;  ///< how a user can choose: "set config_name to one of"
};

/// Errors: `not_found` with the available names; the problem of the chosen config.
Result<const NamedConfig*> choose_config(const Configs& configs, const Choice& choice);

/// For a file without a choice: returns the config in it, or that of its ConfigMap. Errors: those of all calls above.
Result<NamedConfig> only_config(const std::string& text, const std::string& file);

/// Returns the text below data.KEY if the file is a ConfigMap, padded with line breaks so that places in it are those
/// in the file. Empty: the file is not a ConfigMap. @param usual_key  the key to use if there are several Errors:
/// `invalid`, `not_found` as above.
Result<std::optional<std::string>> text_in_config_map(const std::string& text, const std::string& file,
                                                      const std::string& usual_key);

}  // namespace slipway::nvidia::config
