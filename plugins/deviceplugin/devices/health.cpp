// SPDX-License-Identifier: Apache-2.0
#include "deviceplugin/devices/health.hpp"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <utility>

#include "nvidia/config/settings.hpp"
#include "nvidia/machine/causes.hpp"
#include "nvidia/nvml/error.hpp"

namespace slipway::deviceplugin {
namespace {

constexpr const char* kReset = "drain the node and reset the GPU (`slipway pause -- nvidia-smi -r -i UUID`), or reboot";

namespace health = nvidia::health;

std::int64_t seconds_now() {
  return std::chrono::duration_cast<std::chrono::seconds>(std::chrono::system_clock::now().time_since_epoch()).count();
}

/// Returns the GPU instance in an instance_key().
std::optional<unsigned> instance_of(std::string_view place) {
  const std::size_t slash = place.find('/');
  if (slash == std::string_view::npos) return std::nullopt;
  unsigned instance = 0;
  std::from_chars(place.data() + slash + 1, place.data() + place.size(), instance);
  return instance;
}

/// Splits the list into lower-case, trimmed words; "all" and "xids" set `everything`.
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
      all_disabled_(nvidia::config::names_all(disabled)),
      off_(parse_list(disabled, all_off_)),
      on_(parse_list(enabled, all_enabled_)) {}

XidEffect XidFilter::effect(unsigned xid) const {
  const XidEffect effect = rules_.effect(xid);
  if (all_enabled_ || on_.contains(xid)) return effect == XidEffect::none ? XidEffect::until_quiet : effect;
  return all_off_ || off_.contains(xid) ? XidEffect::none : effect;
}

std::string instance_key(const std::string& gpu, unsigned instance) { return gpu + "/" + std::to_string(instance); }

void HealthBook::add_evidence(const std::string& gpu, Health health, bool needs_reset, Moment now) {
  OpenFault& each = open_faults_[gpu];
  const bool first = each.health.healthy;
  each.last = now;
  each.seen_at = seconds_now();
  each.ends_at = each.seen_at + std::chrono::duration_cast<std::chrono::seconds>(rules_.long_quiet_time).count();
  // The first reason stays, because the consequences of a fallen GPU would only hide it. A worse reason replaces a
  // lesser one.
  if (first || std::exchange(each.answers_again, false) || (needs_reset && !each.needs_reset)) {
    each.health = std::move(health);
    each.health.healthy = false;
  }
  each.needs_reset = each.needs_reset || needs_reset;
}

void HealthBook::xid(const std::string& place, const nvidia::health::XidRule& rule, XidEffect effect, Moment now) {
  if (effect == XidEffect::none) return;
  const std::string name = std::to_string(rule.number);
  add_evidence(place, {false, "xid-" + name, "XID " + name + ": " + rule.what, rule.remedy}, effect == XidEffect::reset,
               now);
}

void HealthBook::cancelled(const std::string& place, unsigned number) {
  const auto found = open_faults_.find(place);
  if (found != open_faults_.end() && found->second.health.reason == "xid-" + std::to_string(number))
    end(place, "cancelled", found->second.last);
}

void HealthBook::ecc(const std::string& gpu, Moment now) {
  add_evidence(gpu, {false, health::kEccFault, "an uncorrectable memory error (ECC)", kReset}, true, now);
}

void HealthBook::checked(const std::string& gpu, const Check& check, Moment now) {
  driver_gone_.reset();
  if (!check.answers) {
    add_evidence(
        gpu,
        {false, check.hangs ? "hangs" : "lost", check.why,
         check.hangs ? nvidia::nvml::kHangRemedy : "drain the node; reset the GPU or power the node off and on"},
        false, now);
    for (const std::string& place : places_of(gpu)) open_faults_[place].silent = true;
    return;
  }
  reports_resets_ = check.recovery_action.has_value();
  if (check.recovery_action.value_or(0) != 0)
    add_evidence(gpu,
                 {false, "recovery-action", std::string(health::recovery_action(*check.recovery_action).what),
                  std::string(health::recovery_action(*check.recovery_action).remedy)},
                 true, now);
  for (const std::string& place : places_of(gpu)) {
    OpenFault& each = open_faults_[place];
    // A GPU that was silent and answers again was reset, or its driver was reloaded.
    if (each.silent) {
      each.silent = each.needs_reset = false;
      each.last = now;
      each.answers_again = true;
      constexpr std::string_view kAgain = "it answers again, after: ";
      if (!each.health.text.starts_with(kAgain)) each.health.text = std::string(kAgain) + each.health.text;
      each.health.remedy = "nothing, if it keeps answering";
    }
    const bool is_reset = each.needs_reset && reports_resets_;
    if (is_over(each, check, now)) end(place, each.answers_again ? "found" : is_reset ? health::kReset : "quiet", now);
  }
}

std::vector<std::string> HealthBook::places_of(const std::string& gpu) const {
  std::vector<std::string> places;
  for (const auto& [place, each] : open_faults_)
    if (place == gpu || place.starts_with(gpu + "/")) places.push_back(place);
  return places;
}

void HealthBook::end(const std::string& place, const char* how, Moment now) {
  open_faults_.erase(place);
  ended_[place] = {.instance = instance_of(place), .how = how, .when = now};
}

void HealthBook::forget(const std::string& gpu) {
  for (const std::string& place : places_of(gpu)) open_faults_.erase(place);
  std::erase_if(ended_, [&](const auto& each) { return each.first == gpu || each.first.starts_with(gpu + "/"); });
  std::erase_if(taken_,
                [&](const auto& each) { return each.first.first == gpu || each.first.first.starts_with(gpu + "/"); });
}

bool HealthBook::was_reset(const std::string& gpu, const health::GpuHealth& reset) {
  bool has_ended = false;
  for (const std::string& place : places_of(gpu)) {
    const OpenFault& each = open_faults_.at(place);
    if (each.silent || !reset.has_ended(instance_of(place), each.last)) continue;
    end(place, health::kReset, reset.ended.front().when);
    has_ended = true;
  }
  return has_ended;
}

std::int64_t HealthBook::ends_at(const OpenFault& each) const {
  return each.needs_reset && !each.silent && !reports_resets_ ? each.ends_at : 0;
}

bool HealthBook::is_over(const OpenFault& each, const Check& check, Moment now) const {
  const bool unknown = each.needs_reset && !check.recovery_action;
  return check.recovery_action.value_or(0) == 0 &&
         now - each.last >= (unknown ? rules_.long_quiet_time : rules_.quiet_time);
}

void HealthBook::driver_gone(const std::string& why, Moment) {
  driver_gone_ = Health{false, kDriverGone, why, "the service continues by itself once the driver answers"};
  for (auto& [gpu, each] : open_faults_) each.silent = true;
}

Health HealthBook::of(const std::string& place) const {
  if (!counting_) return {};
  if (driver_gone_) return *driver_gone_;
  const auto found = open_faults_.find(place);
  if (found == open_faults_.end()) return {};
  const OpenFault& each = found->second;
  Health health = each.health;
  health.waits = !each.silent && !each.needs_reset;
  health.remedy += health.waits ? probation() : health::wait_text(ends_at(each));
  return health;
}

std::string HealthBook::probation() const {
  const auto quiet = std::chrono::duration_cast<std::chrono::seconds>(rules_.quiet_time).count();
  return "; it is offered again when no new fault has come for " + std::to_string(quiet) + " s";
}

health::GpuHealth HealthBook::shared(const std::string& gpu, const std::string& name) const {
  health::GpuHealth all{.name = name, .faults = {}, .ended = {}};
  const std::string address = nvidia::gpu_address_in(name);
  for (const std::string& place : places_of(gpu)) {
    const OpenFault& each = open_faults_.at(place);
    constexpr std::string_view kXid = "xid-";
    unsigned xid = 0;
    const std::string& code = each.health.reason;
    if (code.starts_with(kXid)) std::from_chars(code.data() + kXid.size(), code.data() + code.size(), xid);
    const bool is_fatal = each.needs_reset || each.silent;
    const auto instance = instance_of(place);
    all.faults.push_back({.code = code,
                          .severity = is_fatal ? health::Severity::fatal : health::Severity::degraded,
                          .scope = instance ? health::Scope::mig : health::Scope::gpu,
                          .text = each.health.text,
                          .remedy = health::remedy_for(each.health.remedy, address),
                          .instance = instance,
                          .xid = xid,
                          .needs_reset = each.needs_reset,
                          .last = each.last,
                          .seen_at = each.seen_at,
                          .ends_at = ends_at(each)});
  }
  for (const auto& [place, ended] : ended_)
    if (place == gpu || place.starts_with(gpu + "/")) all.ended.push_back(ended);
  return all;
}

void HealthBook::load(const health::HealthOfGpus& saved, Moment now) {
  const auto place_in = [](const std::string& gpu, std::optional<unsigned> instance) {
    return instance ? instance_key(gpu, *instance) : gpu;
  };
  for (const auto& [gpu, known] : saved) {
    for (const health::EndedFaults& each : known.ended) ended_[place_in(gpu, each.instance)] = each;
    for (const health::Fault& fault : known.faults) {
      const std::string place = place_in(gpu, fault.instance);
      add_evidence(place, {false, fault.code, fault.text, fault.remedy}, fault.needs_reset, now);
      open_faults_[place].seen_at = fault.seen_at;
    }
  }
}

bool HealthBook::take(const std::string& gpu, const health::Fault& fault, XidEffect effect, const health::Rules& rules,
                      Moment now) {
  constexpr std::chrono::seconds kSame{60};  // NVML and the kernel's log report the same XID within this time
  if (fault.xid == 0 || effect == XidEffect::none) return false;
  const std::string place = fault.instance ? instance_key(gpu, *fault.instance) : gpu;
  Moment& taken = taken_[{place, fault.code}];
  if (fault.last <= taken) return false;
  taken = fault.last;
  if (const auto ended = ended_.find(place); ended != ended_.end() && fault.last <= ended->second.when) return false;
  if (const auto known = open_faults_.find(place);
      known != open_faults_.end() && fault.last <= known->second.last + kSame)
    return false;
  health::XidRule rule = rules.xid(fault.xid);
  if (!fault.remedy.empty()) rule.remedy = fault.remedy;
  xid(place, rule, effect, now);
  return true;
}

Json to_json(const Health& health) {
  if (health.healthy) return {{"healthy", true}};
  Json json{{"healthy", false}, {"reason", health.reason}, {"text", health.text}, {"remedy", health.remedy}};
  if (health.waits) json["waits"] = true;
  return json;
}

}  // namespace slipway::deviceplugin
