// SPDX-License-Identifier: Apache-2.0
#include "dcgm/health/health_watch.hpp"

#include <algorithm>
#include <set>

#include <fmt/format.h>

#include <slipway/service/metrics.hpp>
#include <slipway/text.hpp>

#include "nvidia/gpu.hpp"
#include "nvidia/nvml/device.hpp"

namespace slipway::dcgm {
namespace {

namespace health = nvidia::health;

std::optional<double> number_of(const Value& value) {
  if (const auto* whole = std::get_if<std::int64_t>(&value)) return static_cast<double>(*whole);
  if (const auto* real = std::get_if<double>(&value)) return *real;
  return std::nullopt;
}

/// Returns the index in the series for each rule's field, under any name that the file of counters gives it.
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
  return name_of(state) + (instance ? ", GPU instance " + std::to_string(*instance) : "");
}

std::string remedy_for(const GpuState& state, const std::string& remedy) {
  return health::remedy_for(remedy, nvidia::nvml::sysfs_address(state.gpu.bus_id));
}

bool concerns_whole_gpu(const Reason& reason) { return !reason.instance; }

}  // namespace

Status check_rule_fields(const health::Rules& rules) {
  for (const auto& [name, rule] : rules.counters()) {
    const auto number = field_number(rule.field);
    const Field* const field = number ? find_field(*number) : nullptr;
    const bool is_of_gpu = field != nullptr && field->level == FieldLevel::gpu;
    if (is_of_gpu && !field->is_text()) continue;
    return Error{
        .code = ErrorCode::invalid,
        .what =
            "counters." + name + ".field: " +
            (!number            ? "DCGM has no field '" + rule.field + "'"
             : field == nullptr ? rule.field + " is not read from NVML"
             : !is_of_gpu ? rule.field + " belongs to a link or a processor, and health rules use only fields of GPUs"
                          : rule.field + " is a string, not a number"),
        .where = rule.field_place,
        .next = !number ? suggestion(rule.field, field_names(), "`slipway dcgm fields` prints all fields")
                        : "`slipway dcgm fields` prints what can be read"};
  }
  return {};
}

std::string name_of(const GpuState& state) {
  const std::string address = nvidia::nvml::sysfs_address(state.gpu.bus_id);
  return state.is_listed ? nvidia::gpu_label(state.gpu.index, address) : "the GPU at " + address;
}

void HealthWatch::take(const Sample& sample, const Counters& counters, const health::Rules& rules, Moment now) {
  gpus_ = sample.gpus;
  std::erase_if(gpus_, [](const GpuState& state) { return state.gpu.uuid.empty(); });
  for (const GpuState& state : gpus_) record_.looked(state.gpu.uuid, state.problem.empty(), rules, now);
  for (const XidEvent& event : sample.xids) {
    const auto number = static_cast<unsigned>(event.number);
    if (!merger_.is_new(health::XidMerger::From::nvml, event.uuid, number, now)) continue;
    // the text in the form that the kernel's log has
    const std::string text = event.recovery_action ? fmt::format("to 0x{:x}", *event.recovery_action) : std::string();
    record_.xid(event.uuid, event.instance, number, rules, now, " " + text);
    const auto gpu = std::ranges::find(gpus_, event.uuid, [](const GpuState& state) { return state.gpu.uuid; });
    const auto rule = rules.judged(number, " " + text);
    if (gpu != gpus_.end()) log_xid(*gpu, event.instance, rule, rules.counts(rule));
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
    if (gpu == gpus_.end()) continue;  // the GPU was never seen
    // The kernel's log has more details than NVML, so it counts even if NVML reported the XID first.
    const bool is_news = merger_.is_new(health::XidMerger::From::kernel, gpu->gpu.uuid, xid.number, now);
    const auto rule = rules.judged(xid.number, xid.text);
    if (is_news || rule.severity != rules.xid(xid.number).severity || !rule.own_remedy.empty())
      record_.xid(gpu->gpu.uuid, xid.instance, xid.number, rules, now, xid.text);
    if (is_news) log_xid(*gpu, xid.instance, rule, rules.counts(rule));
  }
}

void HealthWatch::log_xid(const GpuState& gpu, std::optional<unsigned> instance, const health::XidRule& rule,
                          bool counts) {
  log_lines_.push_back({counts ? "warning" : "info",
                        device_text(gpu, instance) + ": XID " + std::to_string(rule.number) + ": " + rule.what +
                            (rule.remedy.empty() ? "" : " (" + remedy_for(gpu, rule.remedy) + ")")});
}

void HealthWatch::load() {
  for (const auto& [uuid, gpu] : part_.own()) record_.load(uuid, gpu.faults);
}

Result<bool> HealthWatch::exchange(const std::function<bool(const std::string& service)>& runs) {
  health::HealthOfGpus own;
  for (const GpuState& state : gpus_) {
    health::GpuHealth& gpu = own[state.gpu.uuid];
    gpu = {.name = device_text(state, {}), .faults = record_.faults(state.gpu.uuid), .ended = {}};
    for (health::Fault& fault : gpu.faults) fault.remedy = remedy_for(state, fault.remedy);
  }
  SLIPWAY_CHECK(part_.exchange(own));
  health::SharedHealth present = part_.others();
  std::erase_if(present, [](const auto& part) {
    return std::ranges::all_of(part.second,
                               [](const auto& gpu) { return gpu.second.faults.empty() && gpu.second.ended.empty(); });
  });
  health::drop_stopped(present, runs);
  bool changed = false;
  for (const auto& [service, gpus] : present)
    for (const auto& [uuid, gpu] : gpus) {
      const auto before = record_.of(uuid);
      record_.end(uuid, gpu);
      changed = changed || before != record_.of(uuid);
    }
  auto others = health::merged(present);
  changed = changed || others != others_;
  others_ = std::move(others);
  return changed;
}

std::vector<Reason> HealthWatch::of(const std::string& uuid) const {
  std::vector<Reason> reasons = record_.of(uuid);
  if (const auto known = others_.find(uuid); known != others_.end())
    for (const health::Fault& fault : known->second.faults) {
      const auto own = std::ranges::find_if(
          reasons, [&](const Reason& each) { return each.code == fault.code && each.instance == fault.instance; });
      if (own != reasons.end())
        own->remedy += health::wait_text(fault.ends_at);
      else
        reasons.push_back({fault.code, fault.severity, fault.scope, fault.text,
                           fault.remedy + health::wait_text(fault.ends_at), fault.instance,
                           fault.xid != 0 ? fault.seen_at : 0});
    }
  if (const auto gpu = std::ranges::find(gpus_, uuid, [](const GpuState& state) { return state.gpu.uuid; });
      gpu != gpus_.end())
    for (Reason& each : reasons) each.remedy = remedy_for(*gpu, each.remedy);
  std::ranges::stable_sort(reasons,
                           [](const Reason& one, const Reason& other) { return one.severity > other.severity; });
  return reasons;
}

std::map<std::string, std::vector<WatchStatus>> HealthWatch::watches(const health::Rules& rules) const {
  std::map<std::string, std::vector<WatchStatus>> all;
  for (const GpuState& state : gpus_)
    all[state.gpu.uuid] = watch_statuses(of(state.gpu.uuid), rules, state.problem.empty());
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
             "Whether the health rules find nothing wrong with the GPU; slipway_dcgm_gpu_health_reason has the reasons",
             "gauge");
  bool any = false;
  for (const GpuState& state : gpus_) {
    const auto reasons = of(state.gpu.uuid);
    any = any || !reasons.empty();
    text.sample(labels_of(state, std::to_string(state.gpu.index)),
                state.problem.empty() && std::ranges::none_of(reasons, concerns_whole_gpu));
  }
  if (!any) return std::move(text).take();
  text.begin("slipway_dcgm_gpu_health_reason", "What is wrong with a GPU or a GPU instance, 1 for each reason",
             "gauge");
  for (const GpuState& state : gpus_)
    for (const Reason& reason : of(state.gpu.uuid)) {
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

std::vector<std::string> HealthWatch::lines() const {
  std::vector<std::string> all;
  for (const GpuState& state : gpus_)
    for (const Reason& reason : of(state.gpu.uuid))
      all.push_back(device_text(state, reason.instance) + " is unhealthy: " + reason.text + " (" + reason.remedy + ")");
  return all;
}

}  // namespace slipway::dcgm
