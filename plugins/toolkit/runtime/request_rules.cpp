// SPDX-License-Identifier: Apache-2.0
#include "toolkit/runtime/request_rules.hpp"

#include <algorithm>
#include <string_view>

namespace slipway::toolkit {
namespace {

constexpr std::size_t kMostBytes = 253;  // of a namespace's or a device's name

using Texts = std::vector<std::string>;

Error no_rule(std::size_t number, const std::string& what) {
  return Error{ErrorCode::invalid, "rule " + std::to_string(number) + ": " + what, {}, {}, {}};
}

bool is_namespace(std::string_view text) {
  constexpr std::string_view kLetters = "abcdefghijklmnopqrstuvwxyz0123456789-";
  return text == "*" || (!text.empty() && text.find_first_not_of(kLetters) == std::string_view::npos);
}

/// True for "VENDOR/CLASS=NAME"; only the whole name may be "*".
bool is_device(std::string_view text) {
  const auto slash = text.find('/');
  const auto equals = text.find('=');
  if (slash == 0 || slash == std::string_view::npos || equals == std::string_view::npos || equals <= slash + 1)
    return false;
  const std::string_view name = text.substr(equals + 1);
  const auto printable = [](char c) { return c > ' ' && c < '\x7f'; };
  return !name.empty() && std::ranges::all_of(text, printable) && text.substr(0, equals).find('*') == text.npos &&
         (name == "*" || name.find_first_of("*=/") == std::string_view::npos);
}

Result<Texts> read_list(const Json& rule, const char* key, std::size_t number, bool (*is_one)(std::string_view),
                        const char* expected) {
  const auto list = rule.find(key);
  if (list == rule.end() || !list->is_array() || list->empty() || list->size() > kMostRules)
    return no_rule(number, std::string(key) + " is not a list of 1 to " + std::to_string(kMostRules) + " " + expected);
  Texts texts;
  for (const Json& one : *list) {
    const std::string text = one.is_string() ? one.get<std::string>() : one.dump();
    if (!one.is_string() || text.size() > kMostBytes || !is_one(text))
      return no_rule(number, "'" + text.substr(0, kMostBytes) + "' is not one of the " + expected);
    texts.push_back(text);
  }
  return texts;
}

bool names(const RequestRule& rule, const std::string& device) {
  const std::string whole_kind = device.substr(0, device.find('=')) + "=*";
  return std::ranges::any_of(rule.devices, [&](const std::string& one) { return one == device || one == whole_kind; });
}

}  // namespace

Result<RequestRules> read_request_rules(const Json& list) {
  if (!list.is_array() || list.size() > kMostRules)
    return Error{
        ErrorCode::invalid, "it is not a list of at most " + std::to_string(kMostRules) + " rules", {}, {}, {}};
  RequestRules rules;
  for (std::size_t i = 0; i < list.size(); ++i) {
    const Json& one = list[i];
    if (!one.is_object()) return no_rule(i + 1, "it is not a table with namespaces and devices");
    for (const auto& member : one.items())
      if (member.key() != "namespaces" && member.key() != "devices")
        return no_rule(i + 1, "'" + member.key() + "' is neither namespaces nor devices");
    SLIPWAY_TRY(namespaces, read_list(one, "namespaces", i + 1, is_namespace, "namespaces of Kubernetes, or \"*\""));
    SLIPWAY_TRY(devices,
                read_list(one, "devices", i + 1, is_device, "devices VENDOR/CLASS=NAME, where NAME may be \"*\""));
    rules.push_back({std::move(namespaces), std::move(devices)});
  }
  return rules;
}

bool permits(const RequestRules& rules, const std::string& pod_namespace, const std::string& device) {
  return std::ranges::any_of(rules, [&](const RequestRule& rule) {
    const bool here = std::ranges::any_of(rule.namespaces, [&](const std::string& name) {
      return name == "*" || (!pod_namespace.empty() && name == pod_namespace);
    });
    return here && names(rule, device);
  });
}

std::string rule_for(const std::string& pod_namespace, const std::string& device) {
  // Users paste this text, and its device name comes from the container's author.
  constexpr std::string_view kPlain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._:/=";
  const bool plain = device.size() <= kMostBytes && device.find_first_not_of(kPlain) == std::string::npos;
  const bool known = pod_namespace.empty() || (pod_namespace != "*" && is_namespace(pod_namespace));
  if (!plain || !known || !is_device(device)) return {};
  return "runtime: {requests: [{namespaces: [" + (pod_namespace.empty() ? "\"*\"" : pod_namespace) + "], devices: [" +
         device + "]}]}";
}

}  // namespace slipway::toolkit
