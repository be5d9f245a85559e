// SPDX-License-Identifier: Apache-2.0
#include "dcgm/health/health_watch.hpp"

#include <algorithm>
#include <set>

#include <slipway/service/metrics.hpp>
#include <slipway/text.hpp>

#include "nvidia/gpu.hpp"

namespace slipway::dcgm {
namespace {

namespace health = nvidia::health;

std::optional<double> number_of(const Value& value) {
  if (const auto* whole = std::get_if<std::int64_t>(&value)) return static_cast<double>(*whole);
  if (const auto* real = std::get_if<double>(&value)) return *real;
  return std::nullopt;
}

/// The place among the series of each rule's field, whatever name the file of counters gives it.
std::vector<std::pair<const health::CounterRule*, std::size_t>> sampled_rules(const health::Rules& rules,
                                                                              const Counters& counters) {
  std::vector<std::pair<const health::CounterRule*, std::size_t>> found;
  for (const auto& [name, rule] : rules.counters()) {
    const auto number = field_number(rule.field);
    for (std::size_t i = 0; number && i < counters.series.size(); ++i)
      if (counters.series[i].field != nullptr && counters.series[i].field->number == *number)
        found.emplace_back(&rule, i);
  }
  return found;
}

std::string device_text(const GpuState& state, std::optional<unsigned> instance) {
  return "GPU " + std::to_string(state.gpu.index) + " (" + state.gpu.bus_id + ")" +
         (instance ? ", GPU instance " + std::to_string(*instance) : "");
}

bool speaks_against_all(const health::Reason& reason) { return !reason.instance; }

}  // namespace

Status check_rule_fields(const health::Rules& rules) {
  for (const auto& [name, rule] : rules.counters()) {
    const auto number = field_number(rule.field);
    const Field* const field = number ? find_field(*number) : nullptr;
    const bool is_of_gpu = field != nullptr && field->level == FieldLevel::gpu;
    if (is_of_gpu && !field->is_text()) continue;
    return Error{.code = ErrorCode::invalid,
                 .what = "counters." + name + ".field: " +
                         (!number            ? "DCGM has no field '" + rule.field + "'"
                          : field == nullptr ? rule.field + " is not read from NVML"
                          : !is_of_gpu       ? rule.field + " is of a link or a processor, and rules are about GPUs"
                                             : rule.field + " is a text"),
                 .where = rule.field_place,
                 .next = !number ? suggestion(rule.field, field_names(), "`slipway dcgm fields` prints all fields")
                                 : "`slipway dcgm fields` prints what can be read"};
  }
  return {};
}

void HealthWatch::take(const Sample& sample, const Counters& counters, const health::Rules& rules, Moment now) {
  gpus_ = sample.gpus;
  std::erase_if(gpus_, [](const GpuState& state) { return state.gpu.uuid.empty(); });
  for (const GpuState& state : gpus_) record_.looked(state.gpu.uuid, state.problem.empty(), rules, now);
  for (const XidEvent& event : sample.xids) {
    const auto number = static_cast<unsigned>(event.number);
    if (!merger_.is_new(health::XidMerger::From::nvml, event.uuid, number, now)) continue;
    record_.xid(event.uuid, event.instance, number, rules, now);
    const auto gpu = std::ranges::find(gpus_, event.uuid, [](const GpuState& state) { return state.gpu.uuid; });
    if (gpu != gpus_.end()) hear(*gpu, event.instance, number, rules);
  }
  const auto wanted = sampled_rules(rules, counters);
  std::set<std::string> names;
  for (const auto& [rule, which] : wanted) names.insert(rule->name);
  for (const GpuState& state : gpus_) record_.only(state.gpu.uuid, names);
  std::set<std::string> seen;  // a GPU in MIG mode has its counters in each instance
  for (const Entity& entity : sample.entities) {
    if (!seen.insert(entity.gpu.uuid).second) continue;
    for (const auto& [rule, which] : wanted)
      if (const auto value = number_of(entity.series[which])) record_.value(entity.gpu.uuid, *rule, *value, now);
  }
}

void HealthWatch::take_kernel_log(const health::Rules& rules, Moment now) {
  for (const nvidia::Xid& xid : kernel_log_.read()) {
    const auto gpu = std::ranges::find_if(gpus_, [&](const GpuState& state) {
      return nvidia::pci_place(state.gpu.bus_id) == nvidia::pci_place(xid.address);
    });
    if (gpu == gpus_.end()) continue;  // of a GPU that was never seen
    if (!merger_.is_new(health::XidMerger::From::kernel, gpu->gpu.uuid, xid.number, now)) continue;
    record_.xid(gpu->gpu.uuid, xid.instance, xid.number, rules, now);
    hear(*gpu, xid.instance, xid.number, rules);
  }
}

void HealthWatch::hear(const GpuState& gpu, std::optional<unsigned> instance, unsigned number,
                       const health::Rules& rules) {
  const health::XidRule rule = rules.xid(number);
  heard_.push_back({rules.counts(number) ? "warning" : "info",
                    device_text(gpu, instance) + ": XID " + std::to_string(number) + ": " + rule.what +
                        (rule.remedy.empty() ? "" : " (" + rule.remedy + ")")});
}

std::map<std::string, std::vector<WatchStatus>> HealthWatch::watches(const health::Rules& rules) const {
  std::map<std::string, std::vector<WatchStatus>> all;
  for (const GpuState& state : gpus_)
    all[state.gpu.uuid] = watch_statuses(record_.of(state.gpu.uuid), rules, state.problem.empty());
  return all;
}

std::string HealthWatch::metrics(const std::string& host_name, bool old_names) const {
  MetricsText text;
  if (gpus_.empty()) return {};
  const auto labels_of = [&](const GpuState& state, const std::string& index) {
    MetricsText::Labels labels{
        {"gpu", index}, {old_names ? "uuid" : "UUID", state.gpu.uuid}, {"pci_bus_id", state.gpu.bus_id}};
    if (!host_name.empty()) labels.emplace_back("Hostname", host_name);
    return labels;
  };
  text.begin("slipway_dcgm_gpu_healthy",
             "Whether nothing speaks against the GPU by the health rules; slipway_dcgm_gpu_health_reason says what",
             "gauge");
  bool any = false;
  for (const GpuState& state : gpus_) {
    const auto reasons = record_.of(state.gpu.uuid);
    any = any || !reasons.empty();
    text.sample(labels_of(state, std::to_string(state.gpu.index)),
                state.problem.empty() && std::ranges::none_of(reasons, speaks_against_all));
  }
  if (!any) return std::move(text).take();
  text.begin("slipway_dcgm_gpu_health_reason", "What speaks against a GPU or a GPU instance, 1 for each reason",
             "gauge");
  for (const GpuState& state : gpus_)
    for (const health::Reason& reason : record_.of(state.gpu.uuid)) {
      const std::string index = std::to_string(state.gpu.index);
      const std::string instance = reason.instance ? std::to_string(*reason.instance) : "";
      auto labels = labels_of(state, index);
      if (reason.instance) labels.emplace_back("GPU_I_ID", instance);
      labels.emplace_back("reason", reason.code);
      labels.emplace_back("severity", to_string(reason.severity));
      labels.emplace_back("scope", to_string(reason.scope));
      text.sample(labels, 1);
    }
  return std::move(text).take();
}

std::vector<ToldReason> HealthWatch::told() const {
  std::vector<ToldReason> all;
  for (const GpuState& state : gpus_)
    for (const health::Reason& reason : record_.of(state.gpu.uuid))
      all.push_back({.device = device_text(state, reason.instance),
                     .severity = reason.severity,
                     .text = reason.text,
                     .remedy = reason.remedy});
  return all;
}

std::vector<std::string> HealthWatch::lines() const {
  std::vector<std::string> all;
  for (const ToldReason& each : told()) all.push_back(each.device + ": " + each.text + " (" + each.remedy + ")");
  return all;
}

}  // namespace slipway::dcgm
