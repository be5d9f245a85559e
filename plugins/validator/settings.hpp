// SPDX-License-Identifier: Apache-2.0
// plugins/validator/settings.hpp - the component's section of the spec, as types.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <slipway/host.hpp>
#include <slipway/result.hpp>
#include <slipway/spec.hpp>

#include "nvidia/config/settings.hpp"
#include "validator/device_plugin_check.hpp"

namespace slipway::validator {

/// See validator.component.yaml for what each key means.
struct Settings {
  std::vector<std::string> checks;
  std::vector<std::string> companions;
  std::string driver_root;  ///< empty: auto
  std::string directory;
  std::uint16_t port = 0;  ///< 0: no gauges
  std::string address;
  std::string web_config;               ///< path of a web-config file; empty: neither TLS nor users
  std::vector<std::string> host_names;  ///< further names under which clients may address the service
  std::string node;
  std::vector<std::string> warnings;  ///< ignored keys of the config, and differences from deviceplugin's
  Kubelet kubelet;

  bool wants(const std::string& check) const;
};

/// Reads the device plugin's config, which names resources: the section's own, else that of deviceplugin.
Result<nvidia::config::Settings> read_config(const Spec& spec, const Host& host);

/// Errors: `invalid` an invalid port, a config that the device plugin rejects; `not_found` its file.
Result<Settings> read_settings(const Spec& spec, const Host& host);

}  // namespace slipway::validator
