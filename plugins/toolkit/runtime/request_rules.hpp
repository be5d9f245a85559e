// SPDX-License-Identifier: Apache-2.0
// plugins/toolkit/runtime/request_rules.hpp - which containers may request devices by themselves: rules of the spec,
// kept in the settings of NVIDIA's container toolkit as slipway.requests.
#pragma once

#include <string>
#include <vector>

#include <slipway/json.hpp>
#include <slipway/result.hpp>

namespace slipway::toolkit {

/// One rule. A kind is never a pattern, so that a rule opens no kind that it does not name.
struct RequestRule {
  std::vector<std::string> namespaces;  ///< of pods; "*": all of them, and containers outside of pods
  std::vector<std::string> devices;     ///< "VENDOR/CLASS=NAME"; "VENDOR/CLASS=*": all devices of that kind
};
using RequestRules = std::vector<RequestRule>;

/// At most so many rules, and so many namespaces and devices in each.
inline constexpr std::size_t kMostRules = 64;

/// Errors: `invalid`, with the rule that is none ("rule 2: …") and without a place.
Result<RequestRules> read_request_rules(const Json& list);

/// @param pod_namespace  empty: the container is in no pod, or nobody says in which namespace
/// @param device         "VENDOR/CLASS=NAME"
bool permits(const RequestRules& rules, const std::string& pod_namespace, const std::string& device);

/// The words of the spec that would let that device be requested there; empty where its name, or the namespace's, is
/// none that a rule should have: a "*", or more than letters, digits and "-._:".
std::string rule_for(const std::string& pod_namespace, const std::string& device);

}  // namespace slipway::toolkit
