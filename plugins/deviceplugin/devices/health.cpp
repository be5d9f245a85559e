// SPDX-License-Identifier: Apache-2.0
#include "deviceplugin/devices/health.hpp"

#include <algorithm>
#include <cctype>
#include <charconv>

#include "nvidia/config/settings.hpp"
#include "nvidia/nvml/error.hpp"

namespace slipway::deviceplugin {
namespace {

constexpr const char* kReset = "drain the node and reset the GPU (`nvidia-smi -r -i UUID`), or reboot";

/// Words in lower case, trimmed; `everything` is set by "all" and "xids".
std::set<unsigned> parse_list(std::string_view text, bool& everything) {
  std::set<unsigned> numbers;
  std::string word;
  const auto take = [&] {
    if (word == "all" || word == "xids") everything = true;
    unsigned number = 0;
    const auto [end, problem] = std::from_chars(word.data(), word.data() + word.size(), number);
    if (problem == std::errc{} && end == word.data() + word.size()) numbers.insert(number);
    word.clear();
  };
  for (const char letter : text) {
    if (letter == ',') take();
    if (letter != ',' && letter != ' ' && letter != '\t')
      word += static_cast<char>(std::tolower(static_cast<unsigned char>(letter)));
  }
  take();
  return numbers;
}

}  // namespace

XidFilter::XidFilter(std::string_view disabled, std::string_view enabled, const nvidia::health::Rules& rules)
    : rules_(rules),
      whole_off_(nvidia::config::names_all(disabled)),
      off_(parse_list(disabled, all_off_)),
      on_(parse_list(enabled, all_on_)) {}

XidEffect XidFilter::effect(unsigned xid) const {
  const XidEffect effect = rules_.effect(xid);
  if (all_on_ || on_.contains(xid)) return effect == XidEffect::none ? XidEffect::quiet : effect;
  return all_off_ || off_.contains(xid) ? XidEffect::none : effect;
}

std::string instance_key(const std::string& gpu, unsigned instance) { return gpu + "/" + std::to_string(instance); }

void HealthBook::accuse(const std::string& gpu, Health health, bool needs_reset, Moment now) {
  Case& each = cases_[gpu];
  const bool first = each.health.healthy;
  each.last = now;
  // The first reason stays: what follows from a fallen GPU would only hide it. A worse one replaces a lesser one.
  if (first || (needs_reset && !each.needs_reset)) {
    each.health = std::move(health);
    each.health.healthy = false;
  }
  each.needs_reset = each.needs_reset || needs_reset;
}

void HealthBook::xid(const std::string& place, const nvidia::health::XidRule& rule, XidEffect effect, Moment now) {
  if (effect == XidEffect::none) return;
  const std::string name = std::to_string(rule.number);
  accuse(place, {false, "xid-" + name, "XID " + name + ": " + rule.what, rule.remedy}, effect == XidEffect::reset, now);
}

void HealthBook::cancelled(const std::string& place, unsigned number) {
  const auto found = cases_.find(place);
  if (found != cases_.end() && found->second.health.reason == "xid-" + std::to_string(number)) cases_.erase(found);
}

void HealthBook::ecc(const std::string& gpu, Moment now) {
  accuse(gpu, {false, "ecc", "an uncorrectable memory error (ECC)", kReset}, true, now);
}

void HealthBook::checked(const std::string& gpu, const Check& check, Moment now) {
  driver_gone_.reset();
  if (!check.answers) {
    accuse(gpu,
           {false, check.hangs ? "hangs" : "lost", check.why,
            check.hangs ? nvidia::nvml::kHangRemedy : "drain the node; reset the GPU or power the node off and on"},
           false, now);
    for (const std::string& place : places_of(gpu)) cases_[place].silent = true;
    return;
  }
  if (check.recovery_action.value_or(0) != 0)
    accuse(gpu,
           {false, "recovery-action", "the driver asks for recovery action " + std::to_string(*check.recovery_action),
            kReset},
           true, now);
  for (const std::string& place : places_of(gpu)) {
    Case& each = cases_[place];
    // It fell silent and answers again: it was reset, or its driver was loaded anew.
    if (each.silent) {
      each.silent = each.needs_reset = false;
      each.last = now;
    }
    if (is_over(each, check, now)) cases_.erase(place);
  }
}

std::vector<std::string> HealthBook::places_of(const std::string& gpu) const {
  std::vector<std::string> places;
  for (const auto& [place, each] : cases_)
    if (place == gpu || place.starts_with(gpu + "/")) places.push_back(place);
  return places;
}

void HealthBook::forget(const std::string& gpu) {
  for (const std::string& place : places_of(gpu)) cases_.erase(place);
}

bool HealthBook::is_over(const Case& each, const Check& check, Moment now) const {
  const bool unknown = each.needs_reset && !check.recovery_action;
  return check.recovery_action.value_or(0) == 0 && now - each.last >= (unknown ? rules_.long_quiet : rules_.quiet);
}

void HealthBook::driver_gone(const std::string& why, Moment) {
  driver_gone_ = Health{false, kDriverGone, why, "the service goes on by itself once the driver answers"};
  for (auto& [gpu, each] : cases_) each.silent = true;
}

Health HealthBook::of(const std::string& place) const {
  if (!counting_) return {};
  if (driver_gone_) return *driver_gone_;
  const auto found = cases_.find(place);
  return found == cases_.end() ? Health() : found->second.health;
}

Json HealthBook::save() const {
  Json all = Json::object();
  for (const auto& [gpu, each] : cases_) {
    all[gpu] = to_json(each.health);
    all[gpu]["needsReset"] = each.needs_reset;
  }
  return all;
}

void HealthBook::load(const Json& saved, Moment now) {
  if (!saved.is_object()) return;
  for (const auto& [gpu, value] : saved.items()) {
    if (!value.is_object()) continue;
    accuse(gpu, {false, value.value("reason", ""), value.value("text", ""), value.value("remedy", "")},
           value.value("needsReset", false), now);
  }
}

Json to_json(const Health& health) {
  if (health.healthy) return {{"healthy", true}};
  return {{"healthy", false}, {"reason", health.reason}, {"text", health.text}, {"remedy", health.remedy}};
}

}  // namespace slipway::deviceplugin
