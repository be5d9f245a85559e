// SPDX-License-Identifier: Apache-2.0
#include "dcgm/health/record.hpp"

#include <algorithm>

namespace slipway::dcgm {
namespace {

constexpr unsigned kWhole = 0xffffffffU;
// A rule about growth keeps at most that many values; then every other one is dropped.
constexpr std::size_t kMostPoints = 512;
// Limit per GPU. A process that can write to the kernel's log could invent any number of XIDs.
constexpr std::size_t kMostCases = 256;

/// The fault belongs to the whole GPU, even if an instance reported it, unless the rule's scope is smaller.
std::optional<unsigned> place_of(const nvidia::health::XidRule& rule, std::optional<unsigned> named) {
  return rule.scope > nvidia::health::Scope::mig ? std::nullopt : named;
}

std::string text_of(const nvidia::health::XidRule& rule) {
  return "XID " + std::to_string(rule.number) + ": " + rule.what;
}

std::int64_t seconds_now() {
  return std::chrono::duration_cast<std::chrono::seconds>(std::chrono::system_clock::now().time_since_epoch()).count();
}

}  // namespace

void HealthRecord::xid(const std::string& gpu, std::optional<unsigned> instance, unsigned number,
                       const nvidia::health::Rules& rules, Moment now, const std::string& text) {
  const nvidia::health::XidRule rule = rules.judged(number, text);
  const auto counted = place_of(rule, instance);
  auto& cases = gpus_[gpu].cases;
  const unsigned place = counted.value_or(kWhole);
  for (const unsigned over : rule.cancels) cases.erase({"xid-" + std::to_string(over), place});
  if (!rules.counts(rule)) return;
  if (cases.size() >= kMostCases)
    cases.erase(std::ranges::min_element(cases, {}, [](const auto& entry) { return entry.second.last; }));
  const std::string code = "xid-" + std::to_string(number);
  cases[{code, place}] = {{code, rule.severity, rule.scope, text_of(rule), rule.remedy, counted},
                          now,
                          false,
                          number,
                          text,
                          seconds_now(),
                          instance};
}

void HealthRecord::value(const std::string& gpu, const nvidia::health::CounterRule& rule, double value, Moment now) {
  Gpu& each = gpus_[gpu];
  Counter& counter = each.counters[rule.name];
  bool holds = false;
  if (rule.above) {
    if (value <= *rule.above) counter.above_since.reset();
    if (value > *rule.above && !counter.above_since) counter.above_since = now;
    holds = counter.above_since && now - *counter.above_since >= rule.lasting;
  } else {
    auto& points = counter.points;
    if (!points.empty() && value < points.back().value) points.clear();  // the counter has restarted
    while (points.size() > 1 && now - points[1].time >= rule.within) points.pop_front();
    if (points.size() >= kMostPoints) {
      std::deque<Point> half;
      for (std::size_t i = 0; i < points.size(); i += 2) half.push_back(points[i]);
      points = std::move(half);
    }
    points.push_back({now, value});
    holds = value - points.front().value > rule.rises.value_or(0);
  }
  if (holds)
    each.cases[{rule.name, kWhole}] = {
        {rule.name, rule.severity, rule.scope, rule.what, rule.remedy, std::nullopt}, now, true, 0, {}, seconds_now()};
  else
    each.cases.erase({rule.name, kWhole});
}

void HealthRecord::looked(const std::string& gpu, bool answers, const nvidia::health::Rules& rules, Moment now) {
  Gpu& each = gpus_[gpu];
  if (!answers) {
    each.away = true;
    return;
  }
  const bool was_reset = std::exchange(each.away, false);
  judge_again(each, rules);
  std::erase_if(each.cases, [&](const auto& entry) {
    const Case& one = entry.second;
    return !one.of_counter && (was_reset || !rules.counts(rules.judged(one.xid, one.xid_text)) ||
                               now - one.last >= rules.forget_after(one.reason.severity));
  });
  std::erase_if(each.cases, [&](const auto& entry) {
    return entry.second.of_counter && !rules.counters().contains(entry.second.reason.code);
  });
}

/// Applies changed rules to earlier XIDs. If two end up in one place, the later one stays.
void HealthRecord::judge_again(Gpu& gpu, const nvidia::health::Rules& rules) {
  decltype(gpu.cases) judged;
  for (auto& [place, one] : gpu.cases) {
    auto key = place;
    if (!one.of_counter) {
      const nvidia::health::XidRule rule = rules.judged(one.xid, one.xid_text);
      const auto instance = place_of(rule, one.named_instance);
      one.reason = {one.reason.code, rule.severity, rule.scope, text_of(rule), rule.remedy, instance};
      key.second = instance.value_or(kWhole);
    }
    const auto [at, is_new] = judged.try_emplace(key, one);
    if (!is_new && at->second.last < one.last) at->second = one;
  }
  gpu.cases = std::move(judged);
}

void HealthRecord::only(const std::string& gpu, const std::set<std::string>& rules) {
  std::erase_if(gpus_[gpu].cases, [&](const auto& entry) {
    return entry.second.of_counter && !rules.contains(entry.second.reason.code);
  });
}

void HealthRecord::end(const std::string& gpu, const nvidia::health::GpuHealth& other) {
  const auto found = gpus_.find(gpu);
  if (found == gpus_.end()) return;
  std::erase_if(found->second.cases, [&](const auto& entry) {
    const Case& one = entry.second;
    return !one.of_counter && other.has_ended(one.reason.instance, one.last);
  });
}

std::vector<nvidia::health::Fault> HealthRecord::faults(const std::string& gpu) const {
  std::vector<nvidia::health::Fault> all;
  const auto found = gpus_.find(gpu);
  if (found == gpus_.end()) return all;
  for (const auto& [place, one] : found->second.cases)
    all.push_back({.code = one.reason.code,
                   .severity = one.reason.severity,
                   .scope = one.reason.scope,
                   .text = one.reason.text,
                   .remedy = one.reason.remedy,
                   .instance = one.reason.instance,
                   .xid = one.xid,
                   .needs_reset = one.reason.severity == nvidia::health::Severity::fatal,
                   .last = one.last,
                   .seen_at = one.seen_at});
  return all;
}

void HealthRecord::load(const std::string& gpu, const std::vector<nvidia::health::Fault>& faults) {
  for (const nvidia::health::Fault& fault : faults)
    if (fault.xid != 0)
      gpus_[gpu].cases[{fault.code, fault.instance.value_or(kWhole)}] = {
          {fault.code, fault.severity, fault.scope, fault.text, fault.remedy, fault.instance},
          fault.last,
          false,
          fault.xid,
          {},
          fault.seen_at,
          fault.instance};
}

std::vector<Reason> HealthRecord::of(const std::string& gpu) const {
  std::vector<Reason> reasons;
  const auto found = gpus_.find(gpu);
  if (found == gpus_.end()) return reasons;
  for (const auto& [place, each] : found->second.cases) {
    reasons.push_back(each.reason);
    if (!each.of_counter) reasons.back().xid_at = each.seen_at;
  }
  std::ranges::stable_sort(reasons,
                           [](const Reason& one, const Reason& other) { return one.severity > other.severity; });
  return reasons;
}

}  // namespace slipway::dcgm
