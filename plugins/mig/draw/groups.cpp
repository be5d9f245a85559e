// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include <fmt/format.h>

#include <slipway/text.hpp>
#include <slipway/text/display.hpp>

#include "mig/draw/picture.hpp"

namespace slipway::mig {
namespace {

bool looks_the_same(const Gpu& one, const Gpu& other) {
  return one.name == other.name && one.id == other.id && one.lost == other.lost && one.capable == other.capable &&
         one.enabled == other.enabled && one.pending == other.pending && one.profiles == other.profiles &&
         one.instances == other.instances;
}

/// Breaks words that are longer than a line: the name of a process may have any length.
std::string with_short_words(const std::string& text, std::size_t longest) {
  std::string broken;
  std::size_t length = 0;
  for (const char c : text) {
    if (c != ' ' && length == longest) broken += ' ', length = 0;
    length = c == ' ' ? 0 : length + 1;
    broken += c;
  }
  return broken;
}

}  // namespace

std::string ranges_text(const std::vector<unsigned>& numbers) {
  std::vector<std::string> parts;
  for (std::size_t begin = 0; begin < numbers.size();) {
    std::size_t end = begin + 1;
    while (end < numbers.size() && numbers[end] == numbers[end - 1] + 1) ++end;
    if (end - begin < 3)
      for (std::size_t each = begin; each < end; ++each) parts.push_back(std::to_string(numbers[each]));
    else
      parts.push_back(fmt::format("{}-{}", numbers[begin], numbers[end - 1]));
    begin = end;
  }
  return joined(parts);
}

std::string names_text(const std::vector<Gpu>& gpus) {
  if (gpus.size() == 1) return gpus.front().text();
  std::vector<unsigned> indices;
  for (const Gpu& gpu : gpus) indices.push_back(gpu.index);
  std::ranges::sort(indices);
  return "GPU " + ranges_text(indices);
}

std::vector<std::pair<std::string, std::string>> named_by_text(const std::vector<std::pair<Gpu, std::string>>& texts) {
  std::vector<std::pair<std::vector<Gpu>, std::string>> groups;
  for (const auto& [gpu, text] : texts) {
    auto group = std::ranges::find(groups, text, &std::pair<std::vector<Gpu>, std::string>::second);
    if (group == groups.end()) group = groups.insert(groups.end(), {{}, text});
    group->first.push_back(gpu);
  }
  std::vector<std::pair<std::string, std::string>> named;
  for (const auto& [gpus, text] : groups) named.emplace_back(names_text(gpus), text);
  return named;
}

std::string layouts_text(const std::vector<Gpu>& gpus) {
  std::vector<std::pair<Gpu, std::string>> layouts;
  for (const Gpu& gpu : gpus) layouts.emplace_back(gpu, to_text(layout_of(gpu)));
  std::vector<std::string> texts;
  for (const auto& [names, text] : named_by_text(layouts)) texts.push_back(names + " (" + text + ")");
  return joined(texts);
}

std::string GpuGroup::name() const { return indices.size() == 1 ? first.gpu.text() : "GPU " + ranges_text(indices); }

std::vector<GpuGroup> grouped(const std::vector<GpuInUse>& gpus) {
  std::vector<GpuGroup> groups;
  for (const GpuInUse& each : gpus) {
    const auto same = std::ranges::find_if(groups, [&](const GpuGroup& group) {
      return group.first.holders.empty() && each.holders.empty() && looks_the_same(group.first.gpu, each.gpu);
    });
    if (same == groups.end())
      groups.push_back({.indices = {each.gpu.index}, .first = each});
    else
      same->indices.push_back(each.gpu.index);
  }
  return groups;
}

std::string status_text(const Gpu& gpu) {
  if (gpu.hangs) return "does not answer";
  if (gpu.lost) return "lost: the driver cannot reach it";
  if (!gpu.capable) return "not capable of MIG";
  std::string text = "MIG disabled";
  if (gpu.enabled && gpu.instances.empty()) {
    text = "MIG enabled, no instances";
  } else if (gpu.enabled) {
    unsigned used = 0;
    for (const GpuInstance& instance : gpu.instances)
      for (const ComputeInstance& each : instance.compute) used += each.slices;
    text = fmt::format("MIG: {} of {} compute slices used", used, compute_slices(gpu));
  }
  if (gpu.pending != gpu.enabled)
    text += gpu.pending ? "; the next reset enables MIG" : "; the next reset disables MIG";
  return text;
}

std::string room_text(const Gpu& gpu) {
  if (!gpu.enabled) return {};
  std::vector<std::string> texts;
  for (const MoreOf& each : further_instances(gpu))
    texts.push_back(fmt::format("{} x {}", each.count, each.profile.text()));
  return listed(texts, "or");
}

std::string ascii_text(const std::string& text) {
  std::string clean = text;
  std::ranges::replace_if(
      clean, [](unsigned char c) { return c < 0x20 || c > 0x7e; }, '?');
  return clean;
}

std::string folded_counts(const std::string& text, std::size_t width, std::size_t indent, std::size_t first) {
  constexpr char kUnbroken = '\x1f';
  std::string joined_counts = with_short_words(text, width - indent);
  for (std::size_t at = 0; (at = joined_counts.find(" x ", at)) != std::string::npos; at += 3)
    joined_counts[at] = joined_counts[at + 2] = kUnbroken;
  std::string lines = folded(joined_counts, width, indent, first);
  std::ranges::replace(lines, kUnbroken, ' ');
  return lines;
}

Json gpus_json(const std::vector<GpuInUse>& gpus) {
  Json list = Json::array();
  for (const auto& [gpu, holders] : gpus) {
    const auto of = [&holders = holders](std::optional<unsigned> start) {
      Json texts = Json::array();
      for (const DrawnHolder& each : holders)
        if (each.start == start) texts.push_back(each.text);
      return texts;
    };
    Json instances = Json::array();
    for (const Block& block : blocks_of(gpu)) {
      if (block.kind != Block::Kind::instance) continue;
      Json compute = Json::array();
      for (const ComputeInstance& each : block.instance.compute)
        compute.push_back({{"start", each.start}, {"slices", each.slices}});
      instances.push_back({{"profile", block.names.front()},
                           {"start", block.start},
                           {"size", block.size},
                           {"slices", block.gpu_slices},
                           {"compute", std::move(compute)},
                           {"holders", of(block.start)}});
    }
    Json room = Json::array();
    if (gpu.enabled)
      for (const MoreOf& each : further_instances(gpu))
        room.push_back({{"profile", each.profile.text()}, {"count", each.count}});
    Json value{{"index", gpu.index},
               {"address", gpu.address},
               {"uuid", gpu.uuid},
               {"name", gpu.name},
               {"capable", gpu.capable},
               {"enabled", gpu.enabled},
               {"pending", gpu.pending},
               {"instances", std::move(instances)},
               {"holders", of(std::nullopt)},
               {"room", std::move(room)}};
    if (gpu.lost) value["lost"] = true;
    if (!gpu.profiles.empty())
      value.update({{"memory_slices", memory_slices(gpu)}, {"compute_slices", compute_slices(gpu)}});
    list.push_back(std::move(value));
  }
  return {{"apiVersion", "slipway.dev/v1"}, {"kind", "MigGpus"}, {"gpus", std::move(list)}};
}

}  // namespace slipway::mig
