// SPDX-License-Identifier: Apache-2.0
#include "deviceplugin/devices/health.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>

#include "nvidia/xid.hpp"

namespace slipway::deviceplugin {
namespace {

// Those that NVIDIA's device plugin passes over.
constexpr std::array kOfPrograms{13U, 31U, 43U, 45U, 68U, 109U};
// NVIDIA's XID catalogue: "reset GPU" or worse.
constexpr std::array kNeedReset{38U, 48U, 61U, 62U, 64U, 74U, 79U, 95U, 119U, 120U, 121U, 140U, 143U};

constexpr const char* kReset = "drain the node and reset the GPU (`nvidia-smi -r -i UUID`), or reboot";

bool has(const auto& list, unsigned number) { return std::ranges::find(list, number) != list.end(); }

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

XidEffect effect_of(unsigned xid) {
  if (has(kOfPrograms, xid)) return XidEffect::none;
  return has(kNeedReset, xid) ? XidEffect::reset : XidEffect::quiet;
}

XidFilter::XidFilter(std::string_view disabled, std::string_view enabled)
    : off_(parse_list(disabled, all_off_)), on_(parse_list(enabled, all_on_)) {}

XidEffect XidFilter::effect(unsigned xid) const {
  const XidEffect effect = effect_of(xid);
  if (all_on_ || on_.contains(xid)) return effect == XidEffect::none ? XidEffect::quiet : effect;
  return all_off_ || off_.contains(xid) ? XidEffect::none : effect;
}

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

void HealthBook::xid(const std::string& gpu, unsigned number, XidEffect effect, Moment now) {
  if (effect == XidEffect::none) return;
  const auto meaning = nvidia::meaning_of(number);
  const std::string name = std::to_string(number);
  accuse(gpu, {false, "xid-" + name, "XID " + name + ": " + meaning.what, meaning.remedy}, effect == XidEffect::reset,
         now);
}

void HealthBook::ecc(const std::string& gpu, Moment now) {
  accuse(gpu, {false, "ecc", "an uncorrectable memory error (ECC)", kReset}, true, now);
}

void HealthBook::checked(const std::string& gpu, const Check& check, Moment now) {
  driver_gone_.reset();
  if (!check.answers) {
    accuse(gpu,
           {false, check.hangs ? "hangs" : "lost", check.why,
            check.hangs ? "look into the kernel's log (`slipway doctor`); a hanging GPU usually needs a reboot"
                        : "drain the node; reset the GPU or power the node off and on"},
           false, now);
    cases_[gpu].silent = true;
    return;
  }
  if (check.recovery_action.value_or(0) != 0)
    accuse(gpu,
           {false, "recovery-action", "the driver asks for recovery action " + std::to_string(*check.recovery_action),
            kReset},
           true, now);
  const auto found = cases_.find(gpu);
  if (found == cases_.end()) return;
  // It fell silent and answers again: it was reset, or its driver was loaded anew.
  if (found->second.silent) {
    found->second.silent = found->second.needs_reset = false;
    found->second.last = now;
  }
  if (is_over(found->second, check, now)) cases_.erase(found);
}

bool HealthBook::is_over(const Case& each, const Check& check, Moment now) const {
  const bool unknown = each.needs_reset && !check.recovery_action;
  return check.recovery_action.value_or(0) == 0 && now - each.last >= (unknown ? rules_.long_quiet : rules_.quiet);
}

void HealthBook::driver_gone(const std::string& why, Moment) {
  driver_gone_ = Health{false, "driver-gone", why, "the service goes on by itself once the driver answers"};
  for (auto& [gpu, each] : cases_) each.silent = true;
}

Health HealthBook::of(const std::string& gpu) const {
  if (driver_gone_) return *driver_gone_;
  const auto found = cases_.find(gpu);
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
