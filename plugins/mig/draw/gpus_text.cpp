// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include <slipway/text.hpp>

#include "mig/draw/picture.hpp"

namespace slipway::mig {
namespace {

constexpr std::size_t kColumns = 80;
constexpr std::size_t kHanging = 2;
constexpr std::size_t kMostHolders = 12;  // names per GPU

/// Returns "LABEL   text …"; wrapped lines are indented to the text.
std::string labelled(const std::string& label, const std::string& text, Tone tone, const TerminalStyle& style) {
  return painted(style, tone, padded(label, Rows::kGutter)) +
         folded_counts(text, kColumns, Rows::kGutter, Rows::kGutter);
}

std::string heading(const GpuGroup& group, const TerminalStyle& style) {
  const Gpu& gpu = group.first.gpu;
  const std::string name = group.name();
  const std::string model = gpu.lost ? std::string() : ascii_text(gpu.name) + ", ";
  const std::string text = name + ": " + model + status_text(gpu);
  const std::string lines = folded_counts(text, kColumns, kHanging, 0);
  return lines.starts_with(name) ? painted(style, Tone::heading, name) + lines.substr(name.size()) : lines;
}

std::string holder_lines(const GpuInUse& gpu, const TerminalStyle& style) {
  std::string lines;
  for (std::size_t i = 0; i < gpu.holders.size(); ++i) {
    const std::size_t rest = gpu.holders.size() - i;
    const bool is_last = i + 1 == kMostHolders && rest > 1;
    const std::string text =
        is_last ? "and " + std::to_string(rest) + " more processes" : ascii_text(gpu.holders[i].text);
    lines += labelled(i == 0 ? "in use" : "", text, Tone::attention, style);
    if (is_last) break;
  }
  return lines;
}

}  // namespace

std::string gpus_text(const std::vector<GpuInUse>& gpus, const TerminalStyle& style) {
  if (gpus.empty()) return "There is no GPU.\n";
  std::string text;
  unsigned slices_above = 0;  // of the scale that was drawn last
  for (const GpuGroup& group : grouped(gpus)) {
    const Gpu& gpu = group.first.gpu;
    const unsigned slices = memory_slices(gpu);
    const Rows rows(blocks_of(gpu), slices, style);
    if (!text.empty()) text += '\n';
    text += heading(group, style);
    if (gpu.enabled && !gpu.profiles.empty() && slices != slices_above) {
      text += rows.scale();
      slices_above = slices;
    }
    std::set<unsigned> in_use;
    for (const DrawnHolder& each : group.first.holders)
      if (each.start) in_use.insert(*each.start);
    text += rows.border(true) + rows.names("", in_use);
    if (rows.has_parts()) text += rows.parts();
    text += rows.border(false);
    text += holder_lines(group.first, style);
    if (!gpu.enabled || gpu.profiles.empty()) continue;
    const std::string room = room_text(gpu);
    text += labelled("fits", room.empty() ? "nothing more" : room, Tone::faint, style);
  }
  return text;
}

}  // namespace slipway::mig
