// SPDX-License-Identifier: Apache-2.0
#include "nvidia/health/rules.hpp"

#include <slipway/text.hpp>
#include <slipway/trusted_owner.hpp>

namespace slipway::nvidia::health {

std::string_view to_string(Severity severity) {
  switch (severity) {
    case Severity::information:
      return "information";
    case Severity::application:
      return "application";
    case Severity::degraded:
      return "degraded";
    case Severity::fatal:
      break;
  }
  return "fatal";
}

std::string_view to_string(Scope scope) {
  switch (scope) {
    case Scope::job:
      return "job";
    case Scope::mig:
      return "mig";
    case Scope::gpu:
      return "gpu";
    case Scope::node:
      break;
  }
  return "node";
}

std::string_view to_string(DeviceEffect effect) {
  switch (effect) {
    case DeviceEffect::none:
      return "none";
    case DeviceEffect::until_quiet:
      return "quiet";
    case DeviceEffect::reset:
      break;
  }
  return "reset";
}

XidRule Rules::xid(unsigned number) const {
  if (const auto found = xids_.find(number); found != xids_.end()) return found->second;
  XidRule unknown{.number = number, .what = "see NVIDIA's XID catalogue"};
  unknown.action = "contact-support";
  unknown.remedy = "look the XID up in NVIDIA's XID catalogue; drain the node if jobs fail on this GPU";
  return unknown;
}

bool Rules::counts(unsigned number) const {
  if (const auto chosen = presets_.find(preset_); chosen != presets_.end())
    return chosen->second.xids.contains(number) != chosen->second.all_but;
  return xid(number).severity >= Severity::degraded;
}

bool Rules::counts(const XidRule& judged) const {
  const bool is_harmless = judged.severity < Severity::degraded && xid(judged.number).severity >= Severity::degraded;
  return !is_harmless && counts(judged.number);
}

XidRule Rules::judged(unsigned number, std::string_view text) const {
  constexpr unsigned kRecoveryActionChanged = 154;
  XidRule rule = xid(number);
  if (text.empty()) return rule;
  if (const auto action = number == kRecoveryActionChanged ? read_recovery_action(text) : std::nullopt) {
    const RecoveryAction asked = recovery_action(*action);
    rule.what = asked.what;
    rule.own_remedy = rule.remedy = asked.remedy;
    if (*action == 0) {
      rule.severity = Severity::information;
      rule.cancels.insert(number);
    }
  } else if (!rule.units.empty() && text.find(" Nonfatal ") != std::string_view::npos) {
    const auto detail = read_nvlink_detail(rule, text, 0);
    if (detail && detail->needs_reset) return rule;
    rule.severity = Severity::information;
    rule.own_remedy = rule.remedy =
        "nothing now; if it happens again, check both ends of the link (`nvidia-smi nvlink -e`)";
  }
  return rule;
}

DeviceEffect Rules::effect(unsigned number) const {
  const XidRule rule = xid(number);
  const DeviceEffect by_severity = rule.severity == Severity::fatal ? DeviceEffect::reset : DeviceEffect::until_quiet;
  if (rule.device && rule.device_of_site) return *rule.device;
  const bool chosen = presets_.contains(preset_);
  if (chosen && !counts(number)) return DeviceEffect::none;
  if (!rule.device) return by_severity;
  return chosen && *rule.device == DeviceEffect::none ? by_severity : *rule.device;
}

std::chrono::milliseconds Rules::forget_after(Severity severity) const {
  return severity == Severity::fatal ? forget_fatal_ : forget_degraded_;
}

Status Rules::choose(const std::string& preset, const std::string& where) {
  if (!preset.empty() && !presets_.contains(preset)) {
    std::vector<std::string> known;
    for (const auto& [name, each] : presets_) known.push_back(name);
    return Error{.code = ErrorCode::invalid,
                 .what = "there is no preset '" + preset + "' of XIDs",
                 .where = where,
                 .next = "use one of " + joined(known, ", ") + ", or make it under presets: of the file"};
  }
  preset_ = preset;
  return {};
}

const Rules& default_rules() {
  static const Rules rules = [] {
    Rules made;
    const Json all = Json::parse(default_rules_json(), nullptr, false);
    (void)made.add(config::node_from_json(all, "rules.yaml")).ok();  // a test reads the file and its tables
    return made;
  }();
  return rules;
}

Result<Rules> read_rules(const Host& host, const std::string& path) {
  Rules rules = default_rules();
  const auto text = read_trusted(host, path, kMostRuleBytes);
  if (!text) {
    if (path == kSiteFile && text.error().code == ErrorCode::not_found) return rules;
    Error error = text.error();
    error.what = "the file of health rules cannot be read: " + error.what;
    return error;
  }
  SLIPWAY_CHECK(rules.add(*text, path));
  return rules;
}

}  // namespace slipway::nvidia::health
