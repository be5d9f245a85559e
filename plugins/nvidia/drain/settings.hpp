// SPDX-License-Identifier: Apache-2.0
// plugins/nvidia/drain/settings.hpp - the handling of processes that hold a GPU that has to change: the key `drain` of
// a component.
#pragma once

#include <chrono>
#include <string>

#include <slipway/json.hpp>
#include <slipway/result.hpp>

namespace slipway::nvidia::drain {

enum class Policy {
  fail_fast,  ///< fail, and name the users of the GPU
  wait,       ///< wait for the users until a deadline
  terminate,  ///< SIGTERM, and SIGKILL after the grace
  evict,      ///< the agent evicts the pods
  when_idle,  ///< wait for the users without a limit
  next_boot,  ///< leave the change to slipway-boot.service
};

std::string to_string(Policy policy);

struct Settings {
  Policy policy = Policy::fail_fast;
  std::chrono::seconds deadline{600};  ///< for `wait`, from the time when the change first had to wait
  std::chrono::seconds grace{30};      ///< for `terminate`, between the two signals
};

/// "wait", or {"policy": "wait", "deadline": "10m"}; null: the default.
/// @param where  the key, for messages
/// Errors: `invalid` another form, or a key that the policy does not use; `unsupported` evict, because there is no
/// agent.
Result<Settings> read_settings(const Json& value, const std::string& where);

/// Returns the form for an action's data; read_settings() reads it.
Json to_json(const Settings& settings);

/// Reads "90s", "10m", "1h30m": whole seconds, at least one. Errors: `invalid`.
Result<std::chrono::seconds> parse_duration(const std::string& text, const std::string& where);
std::string to_text(std::chrono::seconds duration);

}  // namespace slipway::nvidia::drain
