// SPDX-License-Identifier: Apache-2.0
// plugins/validator/settings.hpp - the component's section of the spec, as types.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include <slipway/result.hpp>
#include <slipway/spec.hpp>

namespace slipway::validator {

/// See validator.component.yaml for what each key means.
struct Settings {
  std::vector<std::string> checks;
  std::vector<std::string> companions;
  std::string driver_root;  ///< empty: auto
  std::string directory;
  std::uint16_t port = 0;  ///< 0: no gauges
  std::string address;
  std::string web_config;  ///< the path of a web-config file; empty: neither TLS nor users
  std::string node;
  std::vector<std::string> warnings;  ///< keys of the config that are passed over
  std::set<std::string> resources;    ///< names that the device plugin's config gives, beside NVIDIA's own

  bool wants(const std::string& check) const;
};

/// Errors: `invalid` a port that is none, a config that the device plugin refuses.
Result<Settings> read_settings(const Spec& spec);

}  // namespace slipway::validator
