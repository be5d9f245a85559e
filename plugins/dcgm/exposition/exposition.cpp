// SPDX-License-Identifier: Apache-2.0
#include "dcgm/exposition/exposition.hpp"

#include <cmath>

#include <fmt/format.h>

#include <slipway/http/metrics.hpp>

namespace slipway::dcgm {
namespace {

using Seconds = std::chrono::duration<double>;

/// Labels that own their texts.
class LabelList {
 public:
  void add(std::string name, std::string value) {
    if (!value.empty()) list_.emplace_back(std::move(name), std::move(value));
  }
  void add_gpu(const GpuIdentity& gpu, const Exporter& exporter) {
    add("gpu", std::to_string(gpu.index));
    add(exporter.old_namespace ? "uuid" : "UUID", gpu.uuid);
    add("pci_bus_id", gpu.bus_id);
    add("device", "nvidia" + std::to_string(gpu.index));
  }
  MetricsText::Labels view() const { return {list_.begin(), list_.end()}; }

 private:
  std::vector<std::pair<std::string, std::string>> list_;
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
  labels.add_gpu(entity.gpu, exporter);
  labels.add("modelName", exporter.blanks_in_model_name ? entity.gpu.model : without_blanks(entity.gpu.model));
  labels.add("GPU_I_PROFILE", entity.profile);
  if (entity.instance) labels.add("GPU_I_ID", std::to_string(*entity.instance));
  labels.add("Hostname", exporter.host_name);
  for (std::size_t i = 0; i < counters.labels.size(); ++i)
    labels.add(counters.labels[i].name, value_text(entity.labels[i]));
  return labels;
}

void add_family(MetricsText& text, const Sample& sample, const Counters& counters, std::size_t which,
                const std::vector<LabelList>& labels) {
  const Counter& counter = counters.series[which];
  bool begun = false;  // a family without a series is not printed
  for (std::size_t i = 0; i < sample.entities.size(); ++i) {
    const std::string value = value_text(sample.entities[i].series[which]);
    if (value.empty()) continue;
    if (!begun) text.begin(counter.name, counter.help, counter.type);
    begun = true;
    if (counter.field->source != Source::xid) {
      text.sample(labels[i].view(), value);
      continue;
    }
    LabelList with_code = labels[i];
    with_code.add("err_code", value);
    with_code.add(
        "err_msg",
        std::string(xid_text(static_cast<std::uint64_t>(std::get<std::int64_t>(sample.entities[i].series[which])))));
    text.sample(with_code.view(), value);
  }
}

void add_own(MetricsText& text, const Sample& sample, const Exporter& exporter) {
  const auto add = [&text](const char* name, const char* help, const char* type, auto value) {
    text.begin(name, help, type);
    text.sample({}, value);
  };
  add("slipway_dcgm_driver_up", "Whether the driver answered at the last sample", "gauge",
      sample.problem.empty() && !exporter.released);
  add("slipway_dcgm_driver_released", "Whether another program has asked for the driver, which stops the sampling",
      "gauge", exporter.released);
  add("slipway_dcgm_driver_outages_total", "How often the driver stopped answering", "counter", sample.outages);
  if (exporter.engine_up)
    add("slipway_dcgm_engine_up", "Whether the DCGM engine answered when it was asked last", "gauge",
        *exporter.engine_up);
  if (!sample.gpus.empty()) {
    text.begin("slipway_dcgm_gpu_up",
               "Whether the GPU could be read at the last sample; a GPU that was seen once stays", "gauge");
    for (const GpuState& state : sample.gpus) {
      LabelList labels;
      labels.add_gpu(state.gpu, exporter);
      labels.add("Hostname", exporter.host_name);
      text.sample(labels.view(), state.problem.empty() && !exporter.released);
    }
  }
  if (!sample.read_errors.empty()) {
    text.begin("slipway_dcgm_read_errors_total", "Values that could not be read, by field", "counter");
    for (const auto& [name, times] : sample.read_errors) text.sample({{"field", name}}, times);
  }
  add("slipway_dcgm_samples_total", "How often the GPUs were looked at", "counter", sample.samples);
  add("slipway_dcgm_sample_duration_seconds", "How long the last sample took", "gauge", Seconds(sample.took).count());
  add("slipway_dcgm_sample_timestamp_seconds", "When the last sample was taken, in seconds since 1970", "gauge",
      fmt::format("{:.3f}", Seconds(sample.time.time_since_epoch()).count()));
}

}  // namespace

std::string value_text(const Value& value) {
  if (const auto* whole = std::get_if<std::int64_t>(&value)) return std::to_string(*whole);
  if (const auto* real = std::get_if<double>(&value)) return std::isfinite(*real) ? fmt::format("{:.6f}", *real) : "";
  const auto* text = std::get_if<std::string>(&value);
  return text == nullptr ? "" : *text;
}

std::string exposition_text(const Sample& sample, const Counters& counters, const Exporter& exporter) {
  MetricsText text;
  std::vector<LabelList> labels;
  for (const Entity& entity : sample.entities) labels.push_back(labels_of(entity, counters, exporter));
  for (std::size_t i = 0; i < counters.series.size(); ++i) add_family(text, sample, counters, i, labels);
  add_own(text, sample, exporter);
  return std::move(text).take();
}

}  // namespace slipway::dcgm
