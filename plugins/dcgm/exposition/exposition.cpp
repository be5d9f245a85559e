// SPDX-License-Identifier: Apache-2.0
#include "dcgm/exposition/exposition.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include <slipway/service/metrics.hpp>

#include "dcgm/events/event_counts.hpp"
#include "dcgm/names/name_sets.hpp"

namespace slipway::dcgm {
namespace {

using Seconds = std::chrono::duration<double>;

/// Labels that own their strings.
class LabelList {
 public:
  void add(std::string name, std::string value) {
    if (!value.empty()) list_.emplace_back(std::move(name), std::move(value));
  }
  void add_gpu(const GpuIdentity& gpu, bool old_names) {
    add("gpu", std::to_string(gpu.index));
    add(old_names ? "uuid" : "UUID", gpu.uuid);
    add("pci_bus_id", gpu.bus_id);
    add("device", "nvidia" + std::to_string(gpu.index));
  }
  MetricsText::Labels view() const { return {list_.begin(), list_.end()}; }

 private:
  std::vector<std::pair<std::string, std::string>> list_;
};

/// One series of each metric.
struct Line {
  const Entity* entity;
  LabelList labels;                                             ///< of the GPU
  std::vector<std::pair<std::string, std::string>> attributes;  ///< labels of the pod or job that uses the entity
  std::optional<PodUse> own;
  std::string of_all = {};     ///< labels and attributes, rendered once for all metrics
  std::string of_entity = {};  ///< the labels without pods, for the total where a pod has only a part

  LabelList with(const std::vector<std::pair<std::string, std::string>>& more) const {
    auto sorted = attributes;
    sorted.insert(sorted.end(), more.begin(), more.end());
    std::ranges::sort(sorted);
    LabelList all = labels;
    for (auto& [name, value] : sorted) all.add(std::move(name), std::move(value));
    return all;
  }
};

/// "NVIDIA-H100-80GB-HBM3".
std::string without_blanks(const std::string& model) {
  std::string joined;
  char before = 0;
  for (const char letter : model) {
    if (letter != ' ' || before != ' ') joined += letter == ' ' ? '-' : letter;
    before = letter;
  }
  return joined;
}

LabelList labels_of(const Entity& entity, const Counters& counters, const Exporter& exporter) {
  LabelList labels;
  labels.add_gpu(entity.gpu, exporter.attribution.old_names);
  labels.add("modelName", exporter.blanks_in_model_name ? entity.gpu.model : without_blanks(entity.gpu.model));
  labels.add("GPU_I_PROFILE", entity.profile);
  if (entity.instance) labels.add("GPU_I_ID", std::to_string(*entity.instance));
  labels.add("Hostname", exporter.host_name);
  for (std::size_t i = 0; i < counters.labels.size(); ++i)
    labels.add(counters.labels[i].name, value_text(entity.labels[i]));
  return labels;
}

std::vector<Line> lines_of_entities(const Sample& sample, const Counters& counters, const Exporter& exporter) {
  std::vector<Line> lines;
  for (const Entity& entity : sample.entities) {
    const LabelList labels = labels_of(entity, counters, exporter);
    for (Use& use : uses_of(entity, exporter.known, exporter.attribution)) {
      Line& line = lines.emplace_back(Line{&entity, labels, std::move(use.labels), use.own});
      line.of_all = MetricsText::rendered(line.with({}).view());
      if (line.own) line.of_entity = MetricsText::rendered(labels.view());
    }
  }
  return lines;
}

/// Returns the pod's own part of a metric that dcgm-exporter divides among pods.
Value own_value(const Field& field, const PodUse& use) {
  if (field.number == kMemoryUsedField) return use.memory_mib;
  if (field.number == kUtilizationField && use.percent) return *use.percent;
  return {};
}

void add_family(MetricsText& text, const Counter& counter, std::size_t which, const std::vector<Line>& lines) {
  bool begun = false;  // a family without a series is not printed
  const Entity* divided = nullptr;
  const auto add = [&](const std::string& labels, const std::string& value) {
    if (!begun) text.begin(counter.name, counter.help, counter.type);
    begun = true;
    text.sample_rendered(labels, value);
  };
  for (const Line& line : lines) {
    const std::string value = value_text(line.entity->series[which]);
    if (value.empty()) continue;
    if (counter.field->source == Source::xid) {
      const auto number = static_cast<std::uint64_t>(std::get<std::int64_t>(line.entity->series[which]));
      const LabelList labels = line.with({{"err_code", value}, {"err_msg", std::string(xid_text(number))}});
      add(MetricsText::rendered(labels.view()), value);
      continue;
    }
    const std::string own = line.own ? value_text(own_value(*counter.field, *line.own)) : "";
    if (!own.empty() && divided != line.entity) add(line.of_entity, value);  // the total, besides the parts
    if (!own.empty()) divided = line.entity;
    add(line.of_all, own.empty() ? value : own);
  }
}

/// dcgm-exporter's own metrics follow those of DCGM's fields.
void add_exporter_family(MetricsText& text, const Counter& counter, const Sample& sample, const EventCounts& events,
                         const std::vector<Line>& lines) {
  bool begun = false;
  for (const Line& line : lines) {
    const bool of_peers = counter.name == "DCGM_EXP_P2P_STATUS";
    for (const EventSeries& series :
         of_peers ? peer_series(*line.entity, sample) : event_series(counter.name, *line.entity, events)) {
      if (!begun) text.begin(counter.name, counter.help, counter.type);
      begun = true;
      text.sample(line.with(series.labels).view(), series.value);
    }
  }
}

/// Adds NVLinks as dcgm-exporter prints them, counted from 1.
void add_links(MetricsText& text, const Sample& sample, const Counters& counters, const Exporter& exporter,
               const std::vector<Line>& lines) {
  std::vector<std::string> labels;
  for (const LinkEntity& link : sample.links) {
    LabelList list;
    list.add("nvlink", std::to_string(link.link + 1));
    list.add("gpu", std::to_string(link.gpu.index));
    list.add("gpu_uuid", link.gpu.uuid);
    list.add("pci_bus_id", link.gpu.bus_id);
    list.add("device", "nvidia" + std::to_string(link.gpu.index));
    list.add("model_name", exporter.blanks_in_model_name ? link.gpu.model : without_blanks(link.gpu.model));
    list.add("Hostname", exporter.host_name);
    const auto of_gpu =
        std::ranges::find_if(lines, [&](const Line& line) { return line.entity->gpu.uuid == link.gpu.uuid; });
    for (std::size_t i = 0; of_gpu != lines.end() && i < counters.labels.size(); ++i)
      list.add(counters.labels[i].name, value_text(of_gpu->entity->labels[i]));
    if (of_gpu != lines.end() && !of_gpu->entity->instance && !exporter.attribution.virtual_gpus)
      for (const auto& [name, value] : of_gpu->attributes) list.add(name, value);
    labels.push_back(MetricsText::rendered(list.view()));
  }
  for (std::size_t i = 0; i < counters.links.size(); ++i) {
    bool begun = false;
    for (std::size_t each = 0; each < sample.links.size(); ++each) {
      const std::string value = value_text(sample.links[each].series[i]);
      if (value.empty()) continue;
      if (!std::exchange(begun, true))
        text.begin(counters.links[i].name, counters.links[i].help, counters.links[i].type);
      text.sample_rendered(labels[each], value);
    }
  }
}

/// Adds NVSwitches and their links as dcgm-exporter prints them, except that each NVSwitch keeps its own number.
void add_switches(MetricsText& text, const Sample& sample, const Counters& counters, const Exporter& exporter) {
  const auto add = [&](const std::vector<Counter>& list, bool of_links) {
    for (std::size_t i = 0; i < list.size(); ++i) {
      bool begun = false;
      for (const SwitchEntity& entity : sample.switches) {
        const std::string value = entity.link.has_value() == of_links ? value_text(entity.series[i]) : "";
        if (value.empty()) continue;
        if (!std::exchange(begun, true)) text.begin(list[i].name, list[i].help, list[i].type);
        LabelList labels;
        if (entity.link) labels.add("nvlink", std::to_string(*entity.link));
        labels.add("nvswitch", "nvswitch" + std::to_string(entity.number));
        labels.add("Hostname", exporter.host_name);
        for (const auto& [name, text_of_label] : entity.labels) labels.add(name, value_text(text_of_label));
        text.sample(labels.view(), value);
      }
    }
  };
  add(counters.switches, false);
  add(counters.switch_links, true);
}

void add_processors(MetricsText& text, const Sample& sample, const Counters& counters, const Exporter& exporter) {
  for (std::size_t i = 0; i < counters.processors.size(); ++i) {
    bool begun = false;
    for (const ProcessorEntity& entity : sample.processors) {
      const std::string value = value_text(entity.series[i]);
      if (value.empty()) continue;
      if (!std::exchange(begun, true))
        text.begin(counters.processors[i].name, counters.processors[i].help, counters.processors[i].type);
      LabelList labels;
      if (entity.core) labels.add("cpucore", std::to_string(*entity.core));
      labels.add("cpu", std::to_string(entity.processor));
      labels.add("Hostname", exporter.host_name);
      text.sample(labels.view(), value);
    }
  }
}

/// Adds a series for each GPU ever seen while the driver answers; a lost GPU has the value of a failure. A GPU with
/// instances has one series for the whole GPU.
void add_health(MetricsText& text, const Counter& counter, const Sample& sample, const Exporter& exporter,
                const std::vector<Line>& lines) {
  bool begun = false;
  const auto add = [&](const Line& line, const std::vector<WatchStatus>& watches) {
    for (const WatchStatus& status : watches) {
      if (!std::exchange(begun, true)) text.begin(counter.name, counter.help, counter.type);
      const LabelList labels =
          line.with({{"health_error_code", std::string(status.error)}, {"health_watch", std::string(status.watch)}});
      text.sample(labels.view(), status.value);
    }
  };
  for (const GpuState& state : sample.gpus) {
    const auto watches = exporter.health.find(state.gpu.uuid);
    if (watches == exporter.health.end() || !sample.problem.empty() || exporter.released) continue;
    bool any = false;
    for (const Line& line : lines) {
      if (line.entity->gpu.uuid != state.gpu.uuid || line.entity->instance) continue;
      add(line, watches->second);
      any = true;
    }
    if (any) continue;
    const Entity gpu{.gpu = state.gpu};
    add({&gpu, labels_of(gpu, Counters(), exporter), {}, {}}, watches->second);
  }
}

void add_own(MetricsText& text, const Sample& sample, const Exporter& exporter) {
  const auto add = [&text](const char* name, const char* help, const char* type, auto value) {
    text.begin(name, help, type);
    text.sample({}, value);
  };
  add("slipway_dcgm_driver_up", "Whether the driver answered at the last sample", "gauge",
      sample.problem.empty() && !exporter.released);
  add("slipway_dcgm_driver_released", "Whether sampling is paused because another program needs the driver", "gauge",
      exporter.released);
  add("slipway_dcgm_driver_outages_total", "How often the driver stopped answering", "counter", sample.outages);
  if (exporter.engine_up)
    add("slipway_dcgm_engine_up", "Whether the DCGM engine answered when it was asked last", "gauge",
        *exporter.engine_up);
  if (!sample.gpus.empty()) {
    text.begin("slipway_dcgm_gpu_up",
               "Whether the GPU could be read at the last sample; a GPU that was seen once stays", "gauge");
    for (const GpuState& state : sample.gpus) {
      LabelList labels;
      labels.add_gpu(state.gpu, exporter.attribution.old_names);
      labels.add("Hostname", exporter.host_name);
      text.sample(labels.view(), state.problem.empty() && !exporter.released);
    }
  }
  if (!sample.read_errors.empty()) {
    text.begin("slipway_dcgm_read_errors_total", "Values that could not be read, by field", "counter");
    for (const auto& [name, times] : sample.read_errors) text.sample({{"field", name}}, times);
  }
  if (exporter.attribution.kubernetes)
    add("slipway_dcgm_pods_up", "Whether kubelet reports which pods hold the GPUs", "gauge",
        exporter.known.pods_problem.empty());
  if (!exporter.attribution.job_folder.empty())
    add("slipway_dcgm_jobs_up", "Whether the folder of jobs can be read", "gauge", exporter.known.jobs_problem.empty());
  add("slipway_dcgm_samples_total", "How many samples were taken", "counter", sample.samples);
  add("slipway_dcgm_sample_duration_seconds", "How long the last sample took", "gauge", Seconds(sample.took).count());
  add("slipway_dcgm_sample_timestamp_seconds", "When the last sample was taken, in seconds since 1970", "gauge",
      fmt::format("{:.3f}", Seconds(sample.time.time_since_epoch()).count()));
}

}  // namespace

std::string exposition_text(const Sample& sample, const Counters& counters, const Exporter& exporter) {
  MetricsText text;
  const std::vector<Line> lines = lines_of_entities(sample, counters, exporter);
  for (std::size_t i = 0; i < counters.series.size(); ++i)
    if (!counters.series[i].hidden) add_family(text, counters.series[i], i, lines);
  add_links(text, sample, counters, exporter, lines);
  add_switches(text, sample, counters, exporter);
  add_processors(text, sample, counters, exporter);
  for (const Counter& counter : counters.exporter)
    if (counter.name == kHealthStatus)
      add_health(text, counter, sample, exporter, lines);
    else if (exporter.events != nullptr)
      add_exporter_family(text, counter, sample, *exporter.events, lines);
  if (exporter.names.openmetrics) add_conventional(text, sample, counters, exporter);
  if (exporter.names.articles) add_articles(text, sample, counters, exporter);
  add_own(text, sample, exporter);
  return std::move(text).take();
}

}  // namespace slipway::dcgm
