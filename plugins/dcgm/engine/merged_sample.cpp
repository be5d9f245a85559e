// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "dcgm/engine/engine.hpp"

namespace slipway::dcgm {
namespace {

/// Returns a field that only an engine has; it stays valid until the process ends.
const Field* engine_field(unsigned number) {
  static std::mutex mutex;
  static std::map<unsigned, Field> fields;
  const std::scoped_lock lock(mutex);
  return &fields.try_emplace(number, Field{.number = number, .whole_gpu = true}).first->second;
}

bool has_value(const Value& value) { return !std::holds_alternative<std::monostate>(value); }

Value value_in(const FieldValues& values, unsigned number) {
  const auto found = values.find(number);
  return found == values.end() ? Value() : found->second;
}

/// Returns the value as a number, as metrics require.
Value number_in(const FieldValues& values, unsigned number) {
  Value value = value_in(values, number);
  return std::holds_alternative<std::string>(value) ? Value() : value;
}

const FieldValues& values_of(const EngineReading& reading, const Entity& entity) {
  static const FieldValues kNone;
  const auto gpu = entity.instance ? reading.gpus.end() : reading.gpus.find(entity.gpu.uuid);
  return gpu == reading.gpus.end() ? kNone : gpu->second;
}

/// Returns the counter's place in a list that is sorted by field number.
std::ptrdiff_t place_in(const std::vector<Counter>& list, unsigned number) {
  return std::ranges::upper_bound(list, number, {}, [](const Counter& other) { return other.field->number; }) -
         list.begin();
}

void add_of_gpus(Counter counter, bool is_label, const EngineReading& reading, Merged& merged) {
  const unsigned number = counter.field->number;
  auto& list = is_label ? merged.counters.labels : merged.counters.series;
  const auto at = is_label ? std::ranges::upper_bound(list, counter.name, {}, &Counter::name) - list.begin()
                           : place_in(list, number);
  for (Entity& entity : merged.sample.entities) {
    auto& values = is_label ? entity.labels : entity.series;
    const FieldValues& of_gpu = values_of(reading, entity);
    values.insert(values.begin() + at, is_label ? value_in(of_gpu, number) : number_in(of_gpu, number));
  }
  list.insert(list.begin() + at, std::move(counter));
}

/// Adds a GPU link counter that only the engine has, and the engine's links if NVML's counters read no links.
void add_of_gpu_links(Counter counter, const EngineReading& reading, Merged& merged) {
  const unsigned number = counter.field->number;
  const auto at = place_in(merged.counters.links, number);
  for (LinkEntity& link : merged.sample.links) {
    const auto found = reading.gpu_links.find({link.gpu.uuid, link.link});
    link.series.insert(link.series.begin() + at,
                       found == reading.gpu_links.end() ? Value() : number_in(found->second, number));
  }
  merged.counters.links.insert(merged.counters.links.begin() + at, std::move(counter));
}

/// Adds the links that the engine knows, for GPUs that can be read, in the form that NVML reports them.
void add_links_of(const EngineReading& reading, const LinkSelection& selection, Merged& merged) {
  std::set<std::pair<std::string, unsigned>> known;
  for (const LinkEntity& link : merged.sample.links) known.emplace(link.gpu.uuid, link.link);
  for (const auto& [key, values] : reading.gpu_links) {
    const auto& [uuid, link] = key;
    const auto state = std::ranges::find(merged.sample.gpus, uuid, [](const GpuState& each) { return each.gpu.uuid; });
    if (state == merged.sample.gpus.end() || !state->problem.empty() || !selection.has(link)) continue;
    if (known.contains(key)) continue;
    merged.sample.links.push_back({state->gpu, link, std::vector<Value>(merged.counters.links.size())});
  }
  std::ranges::stable_sort(merged.sample.links, {},
                           [](const LinkEntity& link) { return std::pair(link.gpu.index, link.link); });
}

/// @param labels  rows of type label, for NVSwitches or of their links
void add_switches(const EngineReading& reading, const LinkSelection& selection, const std::vector<Counter>& labels,
                  Merged& merged) {
  for (auto* const list : {&merged.counters.switches, &merged.counters.switch_links})
    std::ranges::stable_sort(*list, {}, [](const Counter& each) { return each.field->number; });
  const auto add = [&](unsigned number, std::optional<unsigned> link, const std::vector<Counter>& counters,
                       const FieldValues& values) {
    SwitchEntity& entity = merged.sample.switches.emplace_back(SwitchEntity{number, link, {}});
    for (const Counter& counter : counters) entity.series.push_back(number_in(values, counter.field->number));
    for (const Counter& label : labels)
      if (values.contains(label.field->number))
        entity.labels.emplace_back(label.name, value_in(values, label.field->number));
  };
  for (const auto& [number, values] : reading.switches)
    if (selection.has_switch(number)) add(number, std::nullopt, merged.counters.switches, values);
  for (const auto& [key, values] : reading.switch_links)
    if (selection.has_switch_link(key.second)) add(key.first, key.second, merged.counters.switch_links, values);
}

bool lacks_profiling(const Counters& counters, const Sample& sample) {
  for (const Entity& entity : sample.entities)
    for (std::size_t i = 0; i < counters.series.size(); ++i)
      if (counters.series[i].field->source == Source::profiling && !entity.instance && !has_value(entity.series[i]))
        return true;
  return false;
}

}  // namespace

std::vector<unsigned> fields_for_engine(const Counters& counters, const Sample& sample) {
  std::vector<unsigned> fields;
  for (const Counter& each : counters.foreign)
    if (const auto number = field_number(each.name)) fields.push_back(*number);
  if (lacks_profiling(counters, sample))
    for (const Counter& each : counters.series)
      if (each.field->source == Source::profiling) fields.push_back(each.field->number);
  std::ranges::sort(fields);
  return fields;
}

Merged with_engine(const Counters& counters, const Sample& sample, const EngineReading& reading,
                   const LinkSelection& selection) {
  Merged merged{counters, sample};
  for (Entity& entity : merged.sample.entities)
    for (std::size_t i = 0; i < counters.series.size(); ++i)
      if (!has_value(entity.series[i]) && counters.series[i].field->source == Source::profiling)
        entity.series[i] = number_in(values_of(reading, entity), counters.series[i].field->number);
  add_links_of(reading, selection, merged);
  std::vector<Counter> labels;
  for (Counter each : counters.foreign) {
    const auto number = field_number(each.name);
    if (!number) continue;
    each.field = engine_field(*number);
    const bool is_label = each.type == "label";
    const FieldLevel level = field_level(*number);
    if (level == FieldLevel::gpu)
      add_of_gpus(std::move(each), is_label, reading, merged);
    else if (is_label)
      labels.push_back(std::move(each));
    else if (level == FieldLevel::link)
      add_of_gpu_links(std::move(each), reading, merged);
    else
      (level == FieldLevel::nv_switch ? merged.counters.switches : merged.counters.switch_links)
          .push_back(std::move(each));
  }
  std::ranges::sort(labels, {}, &Counter::name);
  add_switches(reading, selection, labels, merged);
  return merged;
}

}  // namespace slipway::dcgm
