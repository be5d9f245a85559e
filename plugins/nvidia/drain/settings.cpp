// SPDX-License-Identifier: Apache-2.0
#include "nvidia/drain/settings.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>
#include <vector>

#include <slipway/text.hpp>

namespace slipway::nvidia::drain {
namespace {

using std::chrono::seconds;

constexpr std::array kPolicies{
    std::pair<std::string_view, Policy>("fail-fast", Policy::fail_fast),
    std::pair<std::string_view, Policy>("wait", Policy::wait),
    std::pair<std::string_view, Policy>("terminate", Policy::terminate),
    std::pair<std::string_view, Policy>("evict", Policy::evict),
    std::pair<std::string_view, Policy>("when-idle", Policy::when_idle),
    std::pair<std::string_view, Policy>("next-boot", Policy::next_boot),
};
constexpr seconds kLongest{30 * 24 * 3600};
/// An apply waits that long for the processes, and an action may take half an hour.
constexpr seconds kLongestGrace{600};

Error invalid(const std::string& what, const std::string& where, const std::string& next) {
  return Error{.code = ErrorCode::invalid, .what = what, .where = where, .next = next};
}

Result<Policy> parse_policy(const Json& value, const std::string& where) {
  std::vector<std::string> names;
  for (const auto& [name, policy] : kPolicies) {
    if (value == name) return policy;
    names.emplace_back(name);
  }
  const std::string word = value.is_string() ? value.get<std::string>() : value.dump();
  return invalid("there is no drain policy " + word, where,
                 suggestion(word, names, "the policies are " + listed(names, "and")));
}

/// Reads a duration that only one policy has. If it is missing: `fallback`.
Result<seconds> duration_for(const Json& value, const char* key, Policy owner, Policy policy, seconds fallback,
                             const std::string& where) {
  const auto found = value.find(key);
  if (found == value.end()) return fallback;
  const std::string place = where + "." + key;
  if (policy != owner)
    return invalid("`" + std::string(key) + "` has no effect with the drain policy " + to_string(policy), place,
                   "leave it out, or choose the policy " + to_string(owner));
  if (!found->is_string()) return invalid("a duration is a string", place, "write for example 10m");
  return parse_duration(*found, place);
}

}  // namespace

std::string to_string(Policy policy) {
  const auto* const found = std::ranges::find(kPolicies, policy, &decltype(kPolicies)::value_type::second);
  return found == kPolicies.end() ? std::string() : std::string(found->first);
}

Result<seconds> parse_duration(const std::string& text, const std::string& where) {
  const Error wrong = invalid("'" + text + "' is not a duration", where, "write for example 90s, 10m or 1h30m");
  std::uint64_t total = 0;
  const char* at = text.data();
  const char* const end = text.data() + text.size();
  while (at != end) {
    std::uint32_t number = 0;
    const auto [after, problem] = std::from_chars(at, end, number);
    if (problem != std::errc{} || after == end) return wrong;
    const std::uint64_t unit = *after == 's' ? 1 : *after == 'm' ? 60 : *after == 'h' ? 3600 : 0;
    if (unit == 0) return wrong;
    total += number * unit;
    at = after + 1;
  }
  if (total == 0 || total > static_cast<std::uint64_t>(kLongest.count()))
    return invalid("the duration '" + text + "' is not between 1s and " + to_text(kLongest), where, wrong.next);
  return seconds(total);
}

std::string to_text(seconds duration) {
  const auto all = duration.count();
  std::string text;
  if (all >= 3600) text += std::to_string(all / 3600) + "h";
  if (all % 3600 >= 60) text += std::to_string(all % 3600 / 60) + "m";
  if (all % 60 != 0 || text.empty()) text += std::to_string(all % 60) + "s";
  return text;
}

Result<Settings> read_settings(const Json& value, const std::string& where) {
  Settings settings;
  if (value.is_null()) return settings;
  const Json keys = value.is_object() ? value : Json{{"policy", value}};
  for (const auto& [key, each] : keys.items())
    if (key != "policy" && key != "deadline" && key != "grace")
      return invalid("unknown key '" + key + "' in drain", where,
                     suggestion(key, {"policy", "deadline", "grace"}, "its keys are policy, deadline and grace"));
  SLIPWAY_TRY(policy, parse_policy(keys.value("policy", Json(to_string(settings.policy))),
                                   value.is_object() ? where + ".policy" : where));
  settings.policy = policy;
  if (policy == Policy::evict)
    return Error{.code = ErrorCode::unsupported,
                 .what = "the drain policy evict needs slipway's agent, which does not exist yet",
                 .where = where,
                 .next = "drain the node with `kubectl drain` and choose another policy, for example wait"};
  SLIPWAY_TRY(deadline, duration_for(keys, "deadline", Policy::wait, policy, settings.deadline, where));
  settings.deadline = deadline;
  SLIPWAY_TRY(grace, duration_for(keys, "grace", Policy::terminate, policy, settings.grace, where));
  settings.grace = grace;
  if (grace > kLongestGrace)
    return invalid("the grace " + to_text(grace) + " is longer than " + to_text(kLongestGrace), where + ".grace",
                   "an apply waits that long: give a shorter grace");
  return settings;
}

Json to_json(const Settings& settings) {
  Json json{{"policy", to_string(settings.policy)}};
  if (settings.policy == Policy::wait) json["deadline"] = to_text(settings.deadline);
  if (settings.policy == Policy::terminate) json["grace"] = to_text(settings.grace);
  return json;
}

}  // namespace slipway::nvidia::drain
