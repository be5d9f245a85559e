// SPDX-License-Identifier: Apache-2.0
#include "dcgm/sampler/processors.hpp"

#include <algorithm>
#include <charconv>
#include <iterator>
#include <numeric>
#include <utility>

#include <slipway/text.hpp>

namespace slipway::dcgm {
namespace {

constexpr std::size_t kMostCores = 4096;

/// Returns the part of a tick difference that a field counts. @param which  DCGM's last digit: 0 all work, 1 user, 2
/// nice, 3 system, 4 interrupts
std::uint64_t part_of(const CoreTicks& ticks, unsigned which) {
  const auto& [user, nice, system, idle, waiting, irq, soft_irq, steal] = ticks;
  switch (which) {
    case 0:
      return user + nice + system + irq + soft_irq + steal;
    case 1:
      return user;
    case 2:
      return nice;
    case 3:
      return system;
    default:
      return irq + soft_irq;
  }
}

std::vector<Value> values_of(const Counters& counters, const CoreTicks& ticks) {
  const auto all = std::accumulate(ticks.begin(), ticks.end(), std::uint64_t{0});
  std::vector<Value> values;
  for (const Counter& counter : counters.processors)
    values.push_back(
        all == 0 ? Value()
                 : Value(static_cast<double>(part_of(ticks, counter.field->argument)) / static_cast<double>(all)));
  return values;
}

}  // namespace

std::map<unsigned, CoreTicks> core_ticks(std::string_view text) {
  std::map<unsigned, CoreTicks> cores;
  for (const std::string_view line : lines_of<std::string_view>(text)) {
    const std::vector<std::string_view> words = split<std::string_view>(line, ' ');
    unsigned core = 0;
    if (words.size() < 9 || !words[0].starts_with("cpu") || words[0].size() == 3) continue;
    const auto number = [](std::string_view word, auto& value) {
      const auto [end, problem] = std::from_chars(word.data(), word.data() + word.size(), value);
      return problem == std::errc{} && end == word.data() + word.size();
    };
    CoreTicks ticks{};
    bool good = number(words[0].substr(3), core) && cores.size() < kMostCores;
    for (std::size_t i = 0; i < ticks.size(); ++i) good = good && number(words[i + 1], ticks[i]);
    if (good) cores[core] = ticks;
  }
  return cores;
}

/// If the kernel does not report the processor, all cores belong to one processor.
unsigned Processors::processor_of(unsigned core) {
  const auto known = processors_.find(core);
  if (known != processors_.end()) return known->second;
  const std::string text =
      host_.attribute("/sys/devices/system/cpu/cpu" + std::to_string(core) + "/topology/physical_package_id");
  unsigned processor = 0;
  if (std::from_chars(text.data(), text.data() + text.size(), processor).ec != std::errc{}) processor = 0;
  return processors_[core] = processor;
}

std::vector<ProcessorEntity> Processors::look(const Counters& counters) {
  std::vector<ProcessorEntity> entities;
  if (counters.processors.empty()) return entities;
  const auto now = core_ticks(host_.read("/proc/stat").value_or(""));
  const auto before = std::exchange(before_, now);
  std::map<unsigned, CoreTicks> sums;
  std::vector<ProcessorEntity> cores;
  for (const auto& [core, ticks] : now) {
    const auto last = before.find(core);
    if (last == before.end()) continue;
    CoreTicks passed{};
    for (std::size_t i = 0; i < ticks.size(); ++i)  // the kernel's iowait count may decrease
      passed[i] = ticks[i] - std::min(ticks[i], last->second[i]);
    const unsigned processor = processor_of(core);
    for (std::size_t i = 0; i < ticks.size(); ++i) sums[processor][i] += passed[i];
    if (selection_.has_core(core)) cores.push_back({processor, core, values_of(counters, passed)});
  }
  for (const auto& [processor, passed] : sums)
    if (selection_.has_gpu(processor)) entities.push_back({processor, std::nullopt, values_of(counters, passed)});
  std::ranges::move(cores, std::back_inserter(entities));
  return entities;
}

}  // namespace slipway::dcgm
