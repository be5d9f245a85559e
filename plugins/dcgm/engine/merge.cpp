// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <map>
#include <mutex>

#include "dcgm/engine/engine.hpp"

namespace slipway::dcgm {
namespace {

/// A field that only an engine has, for the whole life of the process.
const Field* engine_field(unsigned number) {
  static std::mutex mutex;
  static std::map<unsigned, Field> fields;
  const std::scoped_lock lock(mutex);
  return &fields.try_emplace(number, Field{.number = number, .whole_gpu = true}).first->second;
}

bool has_value(const Value& value) { return !std::holds_alternative<std::monostate>(value); }

Value value_in(const EngineReading& reading, const Entity& entity, unsigned number) {
  const auto gpu = entity.instance ? reading.end() : reading.find(entity.gpu.uuid);
  if (gpu == reading.end()) return {};
  const auto found = gpu->second.find(number);
  return found == gpu->second.end() ? Value() : found->second;
}

/// A metric has a number.
Value number_in(const EngineReading& reading, const Entity& entity, unsigned number) {
  Value value = value_in(reading, entity, number);
  return std::holds_alternative<std::string>(value) ? Value() : value;
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

Merged with_engine(const Counters& counters, const Sample& sample, const EngineReading& reading) {
  Merged merged{counters, sample};
  for (Entity& entity : merged.sample.entities)
    for (std::size_t i = 0; i < counters.series.size(); ++i)
      if (!has_value(entity.series[i]) && counters.series[i].field->source == Source::profiling)
        entity.series[i] = number_in(reading, entity, counters.series[i].field->number);
  for (Counter each : counters.foreign) {
    const auto number = field_number(each.name);
    if (!number) continue;
    each.field = engine_field(*number);
    const bool is_label = each.type == "label";
    auto& list = is_label ? merged.counters.labels : merged.counters.series;
    const auto place = is_label ? std::ranges::upper_bound(list, each.name, {}, &Counter::name)
                                : std::ranges::upper_bound(list, *number, {},
                                                           [](const Counter& other) { return other.field->number; });
    const auto at = place - list.begin();
    for (Entity& entity : merged.sample.entities) {
      auto& values = is_label ? entity.labels : entity.series;
      values.insert(values.begin() + at,
                    is_label ? value_in(reading, entity, *number) : number_in(reading, entity, *number));
    }
    list.insert(place, std::move(each));
  }
  return merged;
}

}  // namespace slipway::dcgm
