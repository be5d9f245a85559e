// SPDX-License-Identifier: Apache-2.0
// The JSON of an overview. JSON that is read back may come from another version of slipway, or from another program.
#include <algorithm>
#include <cmath>
#include <limits>
#include <type_traits>

#include <fmt/format.h>

#include "dcgm/page/overview.hpp"

namespace slipway::dcgm {
namespace {

constexpr std::size_t kMostGpus = 256;
constexpr std::size_t kMostEntries = 256;  // limit for a list within a GPU
constexpr unsigned kMostSlices = 64;

template <class T>
Json or_null(const std::optional<T>& value) {
  return value ? Json(*value) : Json();
}

std::int64_t seconds_of(History::Time time) {
  return std::chrono::duration_cast<std::chrono::seconds>(time.time_since_epoch()).count();
}

Json to_json(const InstanceDetails& each);
Json to_json(const ProcessDetails& each);
Json to_json(const PodOnGpu& each);
Json to_json(const SeenXid& each);
Json to_json(const HealthReason& each);
Json to_json(const GpuOverview& each);

template <class List>
Json list_of(const List& list) {
  Json all = Json::array();
  for (const auto& each : list) all.push_back(to_json(each));
  return all;
}

Json to_json(const InstanceDetails& each) {
  return {{"id", each.id},
          {"profile", each.profile},
          {"start", each.start},
          {"size", each.size},
          {"memoryUsedBytes", each.memory_used},
          {"memoryTotalBytes", each.memory_total},
          {"activePercent", or_null(each.active)}};
}

Json to_json(const ProcessDetails& each) {
  return {{"pid", each.pid},
          {"name", each.name},
          {"memoryBytes", or_null(each.memory)},
          {"gpuInstance", or_null(each.instance)}};
}

Json to_json(const PodOnGpu& each) {
  return {{"namespace", each.name_space},
          {"pod", each.pod},
          {"container", each.container},
          {"gpuInstance", or_null(each.instance)}};
}

Json to_json(const SeenXid& each) {
  return {{"number", each.number}, {"gpuInstance", or_null(each.instance)}, {"time", seconds_of(each.time)}};
}

Json to_json(const HealthReason& each) {
  return {{"level", word_of(each.level)}, {"text", each.text}, {"remedy", each.remedy}};
}

Json to_json(const GpuDetails& each) {
  return {{"utilizationPercent", or_null(each.utilization)},
          {"temperatureCelsius", or_null(each.temperature)},
          {"powerWatts", or_null(each.power)},
          {"powerLimitWatts", or_null(each.power_limit)},
          {"clockMhz", or_null(each.clock)},
          {"mostClockMhz", or_null(each.clock_most)},
          {"memoryUsedBytes", each.memory_used},
          {"memoryTotalBytes", each.memory_total},
          {"mig",
           {{"enabled", each.mig_enabled},
            {"pending", each.mig_pending},
            {"slices", each.slices},
            {"instances", list_of(each.instances)}}},
          {"processes", list_of(each.processes)},
          {"moreProcesses", each.more_processes}};
}

Json to_json(const GpuOverview& each) {
  Json line = Json::array();
  for (const auto& step : each.line) line.push_back(or_null(step));
  return {{"index", each.gpu.index},
          {"uuid", each.gpu.uuid},
          {"isListed", each.is_listed},
          {"busId", each.gpu.bus_id},
          {"model", each.gpu.model},
          {"health", word_of(each.level)},
          {"reasons", list_of(each.reasons)},
          {"xids", list_of(each.xids)},
          {"pods", list_of(each.pods)},
          {"lastTenMinutes", line},
          {"values", each.details ? to_json(*each.details) : Json()}};
}

/// Reads members that exist and have the right type; other members keep their value.
class JsonFields {
 public:
  explicit JsonFields(const Json& value) : value_(value) {}

  void operator()(const char* key, std::string& text) const {
    if (const Json* found = find(key); found != nullptr && found->is_string()) text = *found;
  }
  void operator()(const char* key, bool& flag) const {
    if (const Json* found = find(key); found != nullptr && found->is_boolean()) flag = *found;
  }
  template <class Number>
  requires std::is_unsigned_v<Number>
  void operator()(const char* key, Number& number) const {
    const Json* found = find(key);
    if (found == nullptr || !found->is_number_unsigned()) return;
    number =
        static_cast<Number>(std::min<std::uint64_t>(found->get<std::uint64_t>(), std::numeric_limits<Number>::max()));
  }
  void operator()(const char* key, std::optional<double>& number) const {
    if (const Json* found = find(key); found != nullptr && found->is_number())
      if (const double value = *found; std::isfinite(value) && std::abs(value) < kMostNumber) number = value;
  }
  template <class Number>
  requires std::is_unsigned_v<Number>
  void operator()(const char* key, std::optional<Number>& number) const {
    Number value = 0;
    if (const Json* found = find(key); found == nullptr || !found->is_number_unsigned()) return;
    (*this)(key, value);
    number = value;
  }
  void operator()(const char* key, History::Time& time) const {
    constexpr std::uint64_t kLatest = 253402300799;  // the year 9999
    std::uint64_t seconds = 0;
    (*this)(key, seconds);
    time = History::Time(std::chrono::seconds(std::min(seconds, kLatest)));
  }
  void operator()(const char* key, Level& level) const {
    std::string word;
    (*this)(key, word);
    for (const Level each : {Level::good, Level::note, Level::attention, Level::bad})
      if (word == word_of(each)) level = each;
  }
  template <class Each>
  void list(const char* key, std::size_t most, const Each& take) const {
    const Json* found = find(key);
    if (found == nullptr || !found->is_array()) return;
    for (const Json& each : *found)
      if (most-- == 0)
        return;
      else
        take(each);
  }
  JsonFields inside(const char* key) const {
    static const Json kNone;
    const Json* found = find(key);
    return JsonFields(found == nullptr ? kNone : *found);
  }
  bool is_object() const { return value_.is_object(); }

 private:
  static constexpr double kMostNumber = 1e15;
  const Json* find(const char* key) const {
    if (!value_.is_object()) return nullptr;
    const auto found = value_.find(key);
    return found == value_.end() ? nullptr : &*found;
  }
  const Json& value_;
};

InstanceDetails instance_from(const JsonFields& read) {
  InstanceDetails each;
  read("id", each.id);
  read("profile", each.profile);
  read("start", each.start);
  read("size", each.size);
  read("memoryUsedBytes", each.memory_used);
  read("memoryTotalBytes", each.memory_total);
  read("activePercent", each.active);
  each.start = std::min(each.start, kMostSlices);
  each.size = std::clamp(each.size, 1U, kMostSlices);
  return each;
}

ProcessDetails process_from(const JsonFields& read) {
  ProcessDetails each;
  read("pid", each.pid);
  read("name", each.name);
  read("memoryBytes", each.memory);
  read("gpuInstance", each.instance);
  return each;
}

GpuDetails details_from(const JsonFields& read) {
  GpuDetails each;
  read("utilizationPercent", each.utilization);
  read("temperatureCelsius", each.temperature);
  read("powerWatts", each.power);
  read("powerLimitWatts", each.power_limit);
  read("clockMhz", each.clock);
  read("mostClockMhz", each.clock_most);
  read("memoryUsedBytes", each.memory_used);
  read("memoryTotalBytes", each.memory_total);
  const JsonFields mig = read.inside("mig");
  mig("enabled", each.mig_enabled);
  mig("pending", each.mig_pending);
  mig("slices", each.slices);
  each.slices = std::clamp(each.slices, 1U, kMostSlices);
  mig.list("instances", kMostEntries,
           [&](const Json& one) { each.instances.push_back(instance_from(JsonFields(one))); });
  read.list("processes", kMostEntries,
            [&](const Json& one) { each.processes.push_back(process_from(JsonFields(one))); });
  read("moreProcesses", each.more_processes);
  return each;
}

GpuOverview gpu_from(const JsonFields& read) {
  GpuOverview gpu;
  read("index", gpu.gpu.index);
  read("uuid", gpu.gpu.uuid);
  read("isListed", gpu.is_listed);
  read("busId", gpu.gpu.bus_id);
  read("model", gpu.gpu.model);
  read("health", gpu.level);
  read.list("reasons", kMostEntries, [&](const Json& one) {
    HealthReason reason{.gpu = gpu.gpu.uuid, .text = {}, .remedy = {}};
    const JsonFields inside(one);
    inside("level", reason.level);
    inside("text", reason.text);
    inside("remedy", reason.remedy);
    gpu.reasons.push_back(std::move(reason));
  });
  read.list("xids", kMostEntries, [&](const Json& one) {
    SeenXid xid;
    const JsonFields inside(one);
    inside("number", xid.number);
    inside("gpuInstance", xid.instance);
    inside("time", xid.time);
    gpu.xids.push_back(xid);
  });
  read.list("pods", kMostEntries, [&](const Json& one) {
    PodOnGpu pod{.gpu = gpu.gpu.uuid, .instance = {}, .name_space = {}, .pod = {}, .container = {}};
    const JsonFields inside(one);
    inside("namespace", pod.name_space);
    inside("pod", pod.pod);
    inside("container", pod.container);
    inside("gpuInstance", pod.instance);
    gpu.pods.push_back(std::move(pod));
  });
  read.list("lastTenMinutes", History::kSteps, [&](const Json& one) {
    gpu.line.push_back(one.is_number_unsigned() ? std::optional(static_cast<unsigned>(
                                                      std::min<std::uint64_t>(one.get<std::uint64_t>(), 100)))
                                                : std::nullopt);
  });
  if (const JsonFields values = read.inside("values"); values.is_object()) gpu.details = details_from(values);
  return gpu;
}

}  // namespace

Json to_json(const Overview& overview) {
  return {{"apiVersion", "slipway.dev/v1"},
          {"kind", "GpuOverview"},
          {"node", overview.node},
          {"driverVersion", overview.driver_version},
          {"slipwayVersion", overview.slipway_version},
          {"problem", overview.problem},
          {"showsProcesses", overview.shows_processes},
          {"intervalMilliseconds", static_cast<std::uint64_t>(overview.interval.count())},
          {"time", seconds_of(overview.time)},
          {"gpus", list_of(overview.gpus)},
          {"missing", overview.missing}};
}

Result<Overview> overview_from_json(const Json& value) {
  if (!value.is_object() || value.value("kind", Json()) != "GpuOverview")
    return Error{ErrorCode::invalid, "this is not an overview of GPUs", {}, {}, {}};
  const JsonFields read(value);
  Overview overview;
  read("node", overview.node);
  read("driverVersion", overview.driver_version);
  read("slipwayVersion", overview.slipway_version);
  read("problem", overview.problem);
  read("showsProcesses", overview.shows_processes);
  unsigned interval = 0;
  read("intervalMilliseconds", interval);
  overview.interval = std::chrono::milliseconds(interval);
  read("time", overview.time);
  read.list("gpus", kMostGpus, [&](const Json& one) { overview.gpus.push_back(gpu_from(JsonFields(one))); });
  read.list("missing", kMostGpus, [&](const Json& one) {
    if (one.is_string()) overview.missing.push_back(one.get<std::string>());
  });
  return overview;
}

std::string terminal_safe(std::string_view json) {
  std::string safe;
  safe.reserve(json.size());
  for (std::size_t i = 0; i < json.size(); ++i) {
    const auto letter = static_cast<unsigned char>(json[i]);
    const auto next = static_cast<unsigned char>(i + 1 < json.size() ? json[i + 1] : 0);
    if (letter == 0xc2 && next >= 0x80 && next < 0xa0) {
      safe += fmt::format("\\u00{:02x}", next);
      ++i;
    } else if (letter == 0x7f) {
      safe += "\\u007f";
    } else {
      safe += json[i];
    }
  }
  return safe;
}

}  // namespace slipway::dcgm
