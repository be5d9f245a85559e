// SPDX-License-Identifier: Apache-2.0
#include "validator/settings.hpp"

#include <algorithm>

#include "nvidia/config/config_choice.hpp"
#include "nvidia/config/shared_settings.hpp"

namespace slipway::validator {

bool Settings::wants(const std::string& check) const { return std::ranges::count(checks, check) > 0; }

Result<nvidia::config::Settings> read_config(const Spec& spec, const Host& host) {
  return nvidia::config::read_shared_settings(spec, "validator", host, nvidia::config::no_environment);
}

Result<Settings> read_settings(const Spec& spec, const Host& host) {
  const std::int64_t port = spec.number("port");
  if (port < 0 || port > 65535)
    return Error{ErrorCode::invalid,
                 std::to_string(port) + " is not a TCP port",
                 "spec.components.validator.port",
                 "give a number from 1 to 65535, or 0 for no gauges",
                 {}};
  SLIPWAY_TRY(config, read_config(spec, host));
  SLIPWAY_TRY(shared, nvidia::config::settings_of_deviceplugin(spec, host));
  if (shared)
    for (std::string& each : nvidia::config::contradictions("validator", config, *shared))
      config.warnings.push_back(std::move(each) +
                                ": the validator counts other resources than those that are offered to kubelet");
  const std::string root = spec.text("driver_root");
  return Settings{.checks = spec.texts("checks"),
                  .companions = spec.texts("companions"),
                  .driver_root = root == "auto" ? "" : root,
                  .directory = spec.text("directory"),
                  .port = static_cast<std::uint16_t>(port),
                  .address = spec.text("address"),
                  .web_config = spec.text("web_config_file"),
                  .host_names = spec.texts("host_names"),
                  .node = spec.text("node"),
                  .warnings = config.warnings,
                  .kubelet = {.root = spec.text("kubelet_root"), .named = given_names(config)}};
}

}  // namespace slipway::validator
