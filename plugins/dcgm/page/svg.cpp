// SPDX-License-Identifier: Apache-2.0
// The drawings of the page: colours are classes of the page's style, lengths are whole numbers.
#include <algorithm>

#include <fmt/format.h>

#include "dcgm/page/page.hpp"

namespace slipway::dcgm {
namespace {

constexpr unsigned kHeight = 100;  // one unit per percent
constexpr unsigned kSlice = 60;
constexpr unsigned kBox = 34;
constexpr std::size_t kCharacter = 9;  // maximum width of a character, in units of the drawing

/// Draws a box with as much of the text as fits.
std::string box(unsigned start, unsigned size, const char* kind, const std::string& text) {
  const unsigned width = size * kSlice - 4;
  std::string name = text;
  if (name.size() * kCharacter > width) name = name.substr(0, name.find('.'));
  return fmt::format("<rect class=\"{}\" x=\"{}\" y=\"2\" width=\"{}\" height=\"{}\" rx=\"4\"/>", kind,
                     start * kSlice + 2, width, kBox - 4) +
         (name.empty() ? ""
                       : fmt::format("<text x=\"{}\" y=\"{}\">{}</text>", start * kSlice + size * kSlice / 2,
                                     kBox / 2 + 6, html_text(name)));
}

}  // namespace

std::string line_svg(const std::vector<std::optional<unsigned>>& line, const std::string& label) {
  const std::size_t width = std::max<std::size_t>(line.size(), 2) - 1;
  std::string path;
  bool drawing = false;
  for (std::size_t i = 0; i < line.size(); ++i) {
    if (!line[i]) {
      drawing = false;
      continue;
    }
    const unsigned y = kHeight - std::min(*line[i], kHeight);
    path += fmt::format("{}{} {}", drawing ? "L" : "M", i, y);
    if (!drawing) path += fmt::format("L{} {}", i, y);  // a single value is a dot
    drawing = true;
  }
  return fmt::format(
      "<svg class=\"line\" role=\"img\" aria-label=\"{}\" viewBox=\"0 -4 {} {}\" preserveAspectRatio=\"none\">"
      "<path d=\"{}\"/></svg>",
      html_text(label), width, kHeight + 8, path);
}

std::string slices_svg(const GpuDetails& details) {
  std::string boxes;
  std::string label;
  unsigned next = 0;
  const auto leave_free = [&](unsigned end) {
    for (; next < end; ++next) boxes += box(next, 1, "free", "");
  };
  for (const InstanceDetails& each : details.instances) {
    if (each.start < next) continue;
    leave_free(each.start);
    boxes += box(each.start, each.size, "used", each.profile);
    label += (label.empty() ? "" : ", ") + each.profile + " at " + std::to_string(each.start);
    next = each.start + each.size;
  }
  leave_free(details.slices);
  return fmt::format("<svg class=\"mig\" role=\"img\" aria-label=\"{}\" viewBox=\"0 0 {} {}\">{}</svg>",
                     html_text(label.empty() ? "no GPU instance" : "GPU instances on memory slices: " + label),
                     details.slices * kSlice, kBox, boxes);
}

}  // namespace slipway::dcgm
