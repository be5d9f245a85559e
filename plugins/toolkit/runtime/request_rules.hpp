// SPDX-License-Identifier: Apache-2.0
// plugins/toolkit/runtime/request_rules.hpp - the containers that may request devices by themselves: rules of the spec,
// kept in the settings of NVIDIA's container toolkit as slipway.requests.
#pragma once

#include <string>
#include <vector>

#include <slipway/json.hpp>
#include <slipway/result.hpp>

namespace slipway::toolkit {

/// One rule. A kind is never a pattern, so that a rule allows only the kinds in it.
struct RequestRule {
  std::vector<std::string> namespaces;  ///< of pods; "*": all of them, and containers outside of pods
  std::vector<std::string> devices;     ///< "VENDOR/CLASS=NAME"; "VENDOR/CLASS=*": all devices of that kind
};
using RequestRules = std::vector<RequestRule>;

/// Limits for the number of rules, and of namespaces and devices in each.
inline constexpr std::size_t kMostRules = 64;

/// Errors: `invalid`, with the invalid rule ("rule 2: …") and without a place.
Result<RequestRules> read_request_rules(const Json& list);

/// @param pod_namespace  empty: the container is not in a pod, or its namespace is unknown
/// @param device         "VENDOR/CLASS=NAME"
bool permits(const RequestRules& rules, const std::string& pod_namespace, const std::string& device);

/// Returns the spec text that would allow requests for that device there; empty if its name, or the namespace's, must
/// not be in a rule: a "*", or characters other than letters, digits and "-._:".
std::string rule_for(const std::string& pod_namespace, const std::string& device);

}  // namespace slipway::toolkit
