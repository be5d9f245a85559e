// SPDX-License-Identifier: Apache-2.0
#include "mig/draw/rows.hpp"

#include <algorithm>

namespace slipway::mig {
namespace {

constexpr std::size_t kColumnsOfSlices = 64;

struct Signs {
  std::string_view across, down;
  std::string_view top_begin, top_end, top_between;
  std::string_view bottom_begin, bottom_end, bottom_between;
  std::string_view unusable;
};
constexpr Signs kBoxDrawing{"─", "│", "┌", "┐", "┬", "└", "┘", "┴", "·"};
constexpr Signs kAscii{"-", "|", "+", "+", "+", "+", "+", "+", "."};

const Signs& signs_of(const TerminalStyle& style) { return style.utf8 ? kBoxDrawing : kAscii; }

std::string_view colour_of(Tone tone) {
  switch (tone) {
    case Tone::heading:
      return "\033[1m";
    case Tone::faint:
      return "\033[2m";
    case Tone::attention:
      return "\033[33m";
    case Tone::plain:
      break;
  }
  return "";
}

}  // namespace

std::string painted(const TerminalStyle& style, Tone tone, const std::string& text) {
  const std::string_view begin = style.colour ? colour_of(tone) : "";
  return begin.empty() || text.empty() ? text : std::string(begin) + text + "\033[0m";
}

TextLine::Place& TextLine::at(std::size_t column) {
  if (column >= places_.size()) places_.resize(column + 1);
  return places_[column];
}

void TextLine::put(std::size_t column, std::string_view ascii, Tone tone) {
  for (const char c : ascii) at(column++) = {.sign = std::string(1, c), .tone = tone};
}

void TextLine::fill(std::size_t column, std::size_t end, std::string_view sign) {
  for (; column < end; ++column) at(column) = {.sign = std::string(sign)};
}

std::string TextLine::text(const TerminalStyle& style) const {
  std::size_t end = places_.size();
  while (end > 0 && places_[end - 1].sign == " ") --end;
  std::string all;
  for (std::size_t next = 0; next < end;) {
    const Tone tone = places_[next].tone;
    std::string run;
    for (; next < end && places_[next].tone == tone; ++next) run += places_[next].sign;
    all += painted(style, tone, run);
  }
  return all + '\n';
}

Rows::Rows(std::vector<Block> blocks, unsigned slices, const TerminalStyle& style)
    : blocks_(std::move(blocks)),
      slices_(slices),
      unit_(std::max<std::size_t>(1, kColumnsOfSlices / std::max(1U, slices))),
      style_(style) {}

std::size_t Rows::column(const Block& block, unsigned compute_slice) const {
  return column(block.start) + unit_ * compute_slice * block.size / std::max(1U, block.gpu_slices);
}

void Rows::centre(TextLine& line, std::size_t begin, std::size_t end, const std::vector<std::string>& names,
                  Tone tone) const {
  const std::string name = fitting(names, end - begin);
  line.put(begin + (end - begin - name.size()) / 2, name, tone);
}

void Rows::bars(TextLine& line) const {
  for (const Block& block : blocks_) {
    if (!block.is_box()) continue;
    const std::size_t begin = column(block.start);
    const std::size_t end = column(block.start + block.size);
    line.fill(begin, begin + 1, signs_of(style_).down);
    line.fill(end, end + 1, signs_of(style_).down);
  }
}

std::string Rows::scale() const {
  TextLine line;
  line.put(0, "slice", Tone::faint);
  for (unsigned slice = 0; slice < slices_; ++slice)
    centre(line, column(slice) + 1, column(slice + 1), {std::to_string(slice)}, Tone::faint);
  return line.text(style_);
}

std::string Rows::border(bool is_top) const {
  const Signs& signs = signs_of(style_);
  TextLine line;
  bool box_before = false;
  for (const Block& block : blocks_) {
    const std::size_t begin = column(block.start);
    const std::size_t end = column(block.start + block.size);
    const bool is_box = block.is_box();
    if (is_box) {
      const std::string_view corner = is_top ? (box_before ? signs.top_between : signs.top_begin)
                                             : (box_before ? signs.bottom_between : signs.bottom_begin);
      line.fill(begin, begin + 1, corner);
      line.fill(begin + 1, end, signs.across);
      line.fill(end, end + 1, is_top ? signs.top_end : signs.bottom_end);
      if (!is_top && has_parts())
        for (const Cell& cell : cells_of(block))
          if (cell.place.start != 0)
            line.fill(column(block, cell.place.start), column(block, cell.place.start) + 1, signs.bottom_between);
    }
    box_before = is_box;
  }
  const std::string text = line.text(style_);
  return text == "\n" ? std::string() : text;
}

std::string Rows::names(std::string_view gutter, const std::set<unsigned>& in_use) const {
  TextLine line;
  line.put(0, gutter, Tone::faint);
  bars(line);
  for (const Block& block : blocks_) {
    const std::size_t begin = column(block.start) + 1;
    const std::size_t end = column(block.start + block.size);
    if (block.kind == Block::Kind::free) centre(line, begin, end, {"free", "-"}, Tone::faint);
    if (block.kind == Block::Kind::unusable) {
      const std::size_t middle = begin + (end - begin - 1) / 2;
      line.fill(middle, middle + 1, signs_of(style_).unusable);
    }
    if (block.is_box()) {
      const bool is_used = block.kind == Block::Kind::instance && in_use.contains(block.start);
      centre(line, begin, end, block.names, is_used ? Tone::attention : Tone::plain);
    }
  }
  return line.text(style_);
}

bool Rows::has_parts() const {
  return std::ranges::any_of(
      blocks_, [](const Block& each) { return each.kind == Block::Kind::instance && !each.is_one_device(); });
}

std::string Rows::parts() const {
  TextLine line;
  line.put(0, "compute", Tone::faint);
  bars(line);
  for (const Block& block : blocks_)
    for (const Cell& cell : cells_of(block)) {
      const std::size_t begin = column(block, cell.place.start);
      const std::size_t end = column(block, cell.place.start + cell.place.slices);
      if (cell.place.start != 0) line.fill(begin, begin + 1, signs_of(style_).down);
      centre(line, begin + 1, end, {cell.text(), cell.is_free ? "-" : ""}, cell.is_free ? Tone::faint : Tone::plain);
    }
  return line.text(style_);
}

std::string Rows::marks(const std::function<char(const Block& block, const Cell* cell)>& mark_of) const {
  TextLine line;
  for (const Block& block : blocks_) {
    if (block.kind != Block::Kind::instance) continue;
    const auto mark = [&](std::size_t begin, std::size_t end, char sign) {
      line.fill(begin + 1, end, std::string(1, sign));
    };
    const char whole = mark_of(block, nullptr);
    if (whole != ' ') {
      mark(column(block.start), column(block.start + block.size), whole);
      continue;
    }
    for (const Cell& cell : cells_of(block))
      mark(column(block, cell.place.start), column(block, cell.place.start + cell.place.slices), mark_of(block, &cell));
  }
  const std::string text = line.text(style_);
  return text == "\n" ? std::string() : text;
}

}  // namespace slipway::mig
