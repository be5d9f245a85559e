// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include <fmt/format.h>

#include <slipway/text.hpp>
#include <slipway/text/display.hpp>

#include "mig/draw/picture.hpp"

namespace slipway::mig {
namespace {

// Lengths are whole pixels, so that the same GPUs give the same bytes on every machine.
constexpr unsigned kMargin = 20;
constexpr unsigned kSlices = 720;   // all memory slices of a GPU
constexpr unsigned kCharacter = 8;  // of a monospaced font of 13
constexpr unsigned kLine = 20;
constexpr unsigned kBox = 36;    // height
constexpr unsigned kParts = 28;  // height of the compute instances inside
constexpr unsigned kGap = 18;    // between GPUs
constexpr unsigned kSvgColumns = kSlices / kCharacter;

constexpr const char* kStyle =
    "  <style>\n"
    "    .paper { fill: #ffffff } .ink { fill: #1b2530 } .faint { fill: #5b6673 } .name { fill: #1b2530; font-weight: "
    "bold }\n"
    "    .alert { fill: #9a5b00 } .box { fill: #dbe9fb; stroke: #44719f } .used { fill: #fdebc8; stroke: #b07a1e }\n"
    "    .whole { fill: #eef1f4; stroke: #7a828c } .cell { fill: none; stroke: #44719f }\n"
    "    .free { fill: none; stroke: #7a828c; stroke-dasharray: 4 4 }\n"
    "    @media (prefers-color-scheme: dark) {\n"
    "      .paper { fill: #0d1117 } .ink { fill: #e6edf3 } .faint { fill: #9aa4af } .name { fill: #e6edf3 }\n"
    "      .alert { fill: #e3b341 } .box { fill: #16304d; stroke: #6ea8e0 } .used { fill: #4a3510; stroke: #e3b341 }\n"
    "      .whole { fill: #1c232b; stroke: #8b949e } .cell { stroke: #6ea8e0 } .free { stroke: #8b949e }\n"
    "    }\n"
    "  </style>\n";

class Svg {
 public:
  void line(const std::string& style, const std::string& text) { words(kMargin, 0, "start", style, text), y_ += kLine; }
  /// Adds text that wraps to further lines.
  void paragraph(const std::string& style, const std::string& text) {
    for (const std::string& each : lines_of(folded_counts(text, kSvgColumns, 2, 0))) line(style, each);
  }

  void gpu(const GpuGroup& group) {
    const Gpu& gpu = group.first.gpu;
    if (y_ != kMargin) y_ += kGap;
    line("name", group.name());
    paragraph("faint", ascii_text(gpu.name) + ", " + status_text(gpu));
    const std::vector<Block> blocks = blocks_of(gpu);
    unit_ = kSlices / memory_slices(gpu);
    if (gpu.enabled && !gpu.profiles.empty()) scale(memory_slices(gpu));
    const bool has_parts = std::ranges::any_of(
        blocks, [](const Block& each) { return each.kind == Block::Kind::instance && !each.is_one_device(); });
    for (const Block& block : blocks) this->block(block, group.first.holders, has_parts);
    y_ += kBox + (has_parts ? kParts : 0) + kLine / 2;
    for (const DrawnHolder& each : group.first.holders) paragraph("alert", "in use: " + ascii_text(each.text));
    if (!gpu.enabled || gpu.profiles.empty()) return;
    const std::string room = room_text(gpu);
    paragraph("faint", room.empty() ? "nothing more fits" : "fits: " + room);
  }

  std::string text() const {
    const unsigned width = kSlices + 2 * kMargin;
    const unsigned height = y_ + kMargin;
    return fmt::format(
               "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0}\" "
               "height=\"{1}\" viewBox=\"0 0 {0} {1}\" role=\"img\" font-family=\"ui-monospace, Menlo, Consolas, "
               "DejaVu Sans Mono, monospace\" font-size=\"13\">\n  <title>The MIG devices of this machine</title>\n",
               width, height) +
           kStyle + fmt::format("  <rect class=\"paper\" width=\"{}\" height=\"{}\" rx=\"8\"/>\n", width, height) +
           body_ + "</svg>\n";
  }

 private:
  /// @param below  distance from a line's baseline
  void words(unsigned x, unsigned below, const char* anchor, const std::string& style, const std::string& text) {
    body_ += fmt::format("  <text x=\"{}\" y=\"{}\" text-anchor=\"{}\" class=\"{}\">{}</text>\n", x,
                         y_ + kLine - 6 + below, anchor, style, xml_text(text));
  }
  /// @param y  its top, relative to the current line
  void box(const std::string& style, unsigned x, unsigned y, unsigned width, unsigned height, const std::string& text,
           const std::string& tip) {
    body_ += fmt::format(
        "  <g><rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" rx=\"4\" stroke-width=\"1.5\" class=\"{}\"/>", x + 2,
        y_ + y, width - 4, height, style);
    body_ += fmt::format("<text x=\"{}\" y=\"{}\" text-anchor=\"middle\" class=\"{}\">{}</text>", x + width / 2,
                         y_ + y + height / 2 + 5, style == "free" ? "faint" : "ink", xml_text(text));
    body_ += tip.empty() ? "</g>\n" : "<title>" + xml_text(tip) + "</title></g>\n";
  }

  void scale(unsigned slices) {
    for (unsigned slice = 0; slice < slices; ++slice)
      words(kMargin + slice * unit_ + unit_ / 2, 0, "middle", "faint", std::to_string(slice));
    y_ += kLine;
  }

  void block(const Block& block, const std::vector<DrawnHolder>& holders, bool has_parts) {
    const unsigned x = kMargin + block.start * unit_;
    const unsigned width = block.size * unit_;
    const unsigned height = kBox + (has_parts ? kParts : 0);
    if (block.kind == Block::Kind::free) return box("free", x, 0, width, height, "free", {});
    if (block.kind == Block::Kind::unusable)
      return box("free", x, 0, width, height, "-", "no profile can use this slice beside the others");
    std::string tip = block.names.front();
    if (block.kind == Block::Kind::whole)
      return box("whole", x, 0, width, height, fitting(block.names, width / kCharacter), tip);
    tip += fmt::format(" at {}", block.start);
    bool is_used = false;
    for (const DrawnHolder& each : holders) {
      if (each.start != block.start) continue;
      is_used = true;
      tip += "; " + ascii_text(each.text);
    }
    box(is_used ? "used" : "box", x, 0, width, height, has_parts ? "" : fitting(block.names, width / kCharacter), tip);
    if (!has_parts) return;
    words(x + width / 2, 4, "middle", "ink", fitting(block.names, width / kCharacter));
    for (const Cell& cell : cells_of(block)) {
      const unsigned begin = cell.place.start * width / block.gpu_slices;
      const unsigned end = (cell.place.start + cell.place.slices) * width / block.gpu_slices;
      box(cell.is_free ? "free" : "cell", x + begin + 3, kBox - 6, end - begin - 6, kParts, cell.text(), {});
    }
  }

  std::string body_;
  unsigned y_ = kMargin;
  unsigned unit_ = 1;  ///< of a memory slice, in pixels
};

}  // namespace

std::string gpus_svg(const std::vector<GpuInUse>& gpus) {
  Svg svg;
  if (gpus.empty()) svg.line("faint", "There is no GPU.");
  for (const GpuGroup& group : grouped(gpus)) svg.gpu(group);
  return svg.text();
}

}  // namespace slipway::mig
