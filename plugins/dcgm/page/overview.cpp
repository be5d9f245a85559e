// SPDX-License-Identifier: Apache-2.0
#include "dcgm/page/overview.hpp"

#include <algorithm>
#include <array>
#include <ctime>
#include <string_view>

#include <fmt/format.h>

#include <slipway/text.hpp>

#include "dcgm/sampler/sampler.hpp"
#include "nvidia/health/rules.hpp"

namespace slipway::dcgm {
namespace {

constexpr unsigned kActive = 1001;  // DCGM's number of the share of time in which a GPU computes
constexpr std::size_t kMostPods = 64;

/// Returns the share of the time that a GPU instance or a whole GPU computes, if the counters have it.
std::optional<double> active_of(const Sample& sample, const Counters& counters, const std::string& uuid,
                                std::optional<unsigned> instance) {
  const auto field = std::ranges::find_if(
      counters.series, [](const Counter& each) { return each.field != nullptr && each.field->number == kActive; });
  if (field == counters.series.end()) return std::nullopt;
  const auto place = static_cast<std::size_t>(field - counters.series.begin());
  for (const Entity& entity : sample.entities)
    if (entity.gpu.uuid == uuid && entity.instance == instance && place < entity.series.size())
      if (const auto* share = std::get_if<double>(&entity.series[place])) return *share * 100;
  return std::nullopt;
}

HealthReason reason_of(const SeenXid& xid, const std::string& uuid) {
  using nvidia::health::Severity;
  const nvidia::health::XidRule rule = nvidia::health::default_rules().xid(static_cast<unsigned>(xid.number));
  std::string text = "XID " + std::to_string(xid.number);
  if (xid.instance) text += " on GPU instance " + std::to_string(*xid.instance);
  text += " at " + clock_text(xid.time);
  if (!rule.what.empty()) text += ": " + rule.what;
  const bool note = rule.severity == Severity::information || rule.severity == Severity::application;
  return {uuid, note ? Level::note : Level::attention, text, rule.remedy};
}

/// Adds --root to slipway's commands in the text, which reset a GPU or look for a fault.
std::string for_root(std::string text, const std::string& root) {
  if (root == "/") return text;
  constexpr std::string_view kPlain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./";
  std::string word = root;
  if (word.find_first_not_of(kPlain) != std::string::npos) {  // quoted for a shell
    for (std::size_t at = word.find('\''); at != std::string::npos; at = word.find('\'', at + 4))
      word.replace(at, 1, "'\\''");
    word = "'" + word + "'";
  }
  const std::string option = " --root " + word;
  for (const std::string command : {"`slipway pause", "`slipway doctor", "`slipway apply"})
    for (std::size_t at = text.find(command); at != std::string::npos; at = text.find(command, at + command.size()))
      text.insert(at + command.size(), option);
  return text;
}

GpuOverview gpu_overview(const GpuState& state, const Sample& sample, const Counters& counters,
                         const PodsAndHealth& known, const Past& past, const OverviewOptions& options) {
  GpuOverview gpu{
      .gpu = state.gpu, .is_listed = state.is_listed, .reasons = {}, .pods = {}, .xids = past.xids, .line = {}};
  gpu.line = past.busy.steps(sample.time, 2 * options.interval);
  for (const HealthReason& each : known.reasons)
    if (each.gpu.empty() || each.gpu == state.gpu.uuid) gpu.reasons.push_back(each);
  // A known fault of the GPU already says why it cannot be read, and what to do.
  const bool is_explained =
      std::ranges::any_of(gpu.reasons, [](const HealthReason& each) { return each.level == Level::bad; });
  if (!options.released && !state.problem.empty() && !is_explained) {
    const std::string text = "cannot be read: " + state.problem;
    gpu.reasons.push_back({state.gpu.uuid, Level::bad, text, silent_gpu_remedy(state)});
  }
  for (const SeenXid& each : known.judged ? std::vector<SeenXid>() : past.xids)
    gpu.reasons.push_back(reason_of(each, state.gpu.uuid));
  for (HealthReason& each : gpu.reasons) {
    gpu.level = std::max(gpu.level, each.level);
    each.remedy = for_root(std::move(each.remedy), options.root);
  }
  std::ranges::stable_sort(gpu.reasons, std::greater{}, &HealthReason::level);
  for (const PodOnGpu& each : known.pods)
    if (each.gpu == state.gpu.uuid && gpu.pods.size() < kMostPods) gpu.pods.push_back(each);
  if (!state.details || options.released) return gpu;
  gpu.details = *state.details;
  if (!options.shows_processes) {
    gpu.details->processes.clear();
    gpu.details->more_processes = 0;
  }
  for (InstanceDetails& each : gpu.details->instances)
    each.active = active_of(sample, counters, state.gpu.uuid, each.id);
  return gpu;
}

}  // namespace

const char* word_of(Level level) {
  constexpr std::array kWords{"ok", "note", "attention", "bad"};
  return kWords[static_cast<std::size_t>(level)];
}

Overview make_overview(const Sample& sample, const Counters& counters, const PodsAndHealth& known,
                       const std::vector<const Past*>& pasts, const OverviewOptions& options) {
  Overview overview{
      .node = options.node,
      .driver_version = sample.driver_version,
      .slipway_version = SLIPWAY_VERSION,
      .problem = options.released ? "another program needs the driver, so sampling is paused" : sample.problem,
      .shows_processes = options.shows_processes,
      .interval = options.interval,
      .time = sample.time,
      .gpus = {},
      .missing = sample.missing};
  for (std::size_t i = 0; i < sample.gpus.size(); ++i)
    overview.gpus.push_back(gpu_overview(sample.gpus[i], sample, counters, known, *pasts[i], options));
  return overview;
}

std::string gibibytes(std::uint64_t bytes) {
  return fmt::format("{:.1f} GiB", static_cast<double>(bytes) / (1024.0 * 1024 * 1024));
}

std::string missing_text(const std::string& address) {
  return "the GPU at " + address +
         " is on the PCI bus, but the driver does not show it: look for its address in the kernel's log (`dmesg`)";
}

std::string models_text(const Overview& overview) {
  std::vector<std::pair<std::string, unsigned>> models;
  for (const GpuOverview& each : overview.gpus) {
    const std::string& name = each.gpu.model.empty() ? "unknown GPU" : each.gpu.model;
    const auto known = std::ranges::find(models, name, &std::pair<std::string, unsigned>::first);
    if (known == models.end())
      models.emplace_back(name, 1);
    else
      ++known->second;
  }
  return joined(models, ", ", [](const auto& each) { return std::to_string(each.second) + " x " + each.first; });
}

std::string levels_text(const Overview& overview) {
  const auto count = [&](Level level) { return std::ranges::count(overview.gpus, level, &GpuOverview::level); };
  const auto bad = count(Level::bad);
  const auto attention = count(Level::attention);
  std::string text;
  if (bad != 0) text = std::to_string(bad) + (bad == 1 ? " is bad" : " are bad");
  if (attention != 0)
    text += (text.empty() ? "" : ", ") + std::to_string(attention) +
            (attention == 1 ? " needs attention" : " need attention");
  return text;
}

std::string clock_text(History::Time time) {
  const std::time_t seconds = std::chrono::system_clock::to_time_t(time);
  std::tm parts{};
  ::gmtime_r(&seconds, &parts);
  return fmt::format("{:02}:{:02}:{:02} UTC", parts.tm_hour, parts.tm_min, parts.tm_sec);
}

}  // namespace slipway::dcgm
