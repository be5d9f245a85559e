// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <map>
#include <numeric>
#include <sstream>
#include <tuple>

#include <slipway/text.hpp>
#include <slipway/text/display.hpp>

#include "cli/render/graph_views.hpp"

namespace slipway::cli {
namespace {

// Lengths are in whole pixels, so that the same graph gives the same bytes everywhere.
constexpr int kCharacter = 9;  // for a monospaced font of 14
constexpr int kBoxHeight = 32;
constexpr int kBoxPadding = 14;
constexpr int kWayHeight = 10;  // for an arrow that passes a column
constexpr int kRowGap = 16;
constexpr int kColumnGap = 64;
constexpr int kMargin = 16;
constexpr int kLegendHeight = 40;
constexpr int kLegendWidth = 250;

constexpr const char* kLine = "#7a828c";  // about 4:1 on white, 5:1 on black
constexpr const char* kBox = "#eef2f7";
constexpr const char* kText = "#1b2530";

bool is_required(const core::Graph& graph, const std::string& name, const std::string& first) {
  return std::ranges::count(graph.requires_.at(name), first) > 0;
}

/// Escapes text inside quotes of Graphviz.
std::string dot_text(const std::string& text) {
  std::string escaped;
  for (const char c : text) {
    if (c == '"' || c == '\\') escaped += '\\';
    escaped += c;
  }
  return escaped;
}

/// A place in a column: a component's box, or the passage of an arrow to a later column.
struct Place {
  std::string name;  ///< empty: an arrow passes
  std::size_t column = 0;
  std::vector<std::size_t> from = {};  ///< places in the column before with arrows to this one
  int y = 0;                           ///< its middle
  int width() const { return name.empty() ? 0 : static_cast<int>(width_of(name)) * kCharacter + 2 * kBoxPadding; }
  int height() const { return name.empty() ? kWayHeight : kBoxHeight; }
};

struct Arrow {
  bool required;
  std::vector<std::size_t> places;  ///< from box to box
};

/// The positions of everything. Arrows of one kind that leave the same box share their path up to where they part.
class Layout {
 public:
  explicit Layout(const core::Graph& graph) : graph_(graph) {
    for (const std::string& name : graph.order) add_box(name);
    // Boxes first, in their order; the sort below keeps the order among equals.
    for (const std::string& name : graph.order)
      for (const std::string& first : graph.before.at(name)) add_arrow(first, name);
    for (std::vector<std::size_t>& column : columns_) arrange(column);
    for (const auto& column : columns_) {
      left_.push_back(left_.empty() ? kMargin : left_.back() + widths_.back() + kColumnGap);
      widths_.push_back(width_of_column(column));
      const int free = height_ - height_of(column);
      for (const std::size_t place : column) places_[place].y += kMargin + free / 2;
    }
  }

  int width() const { return columns_.empty() ? 2 * kMargin : left_.back() + widths_.back() + kMargin; }
  int height() const { return height_ + 2 * kMargin; }
  const std::vector<Place>& places() const { return places_; }
  const std::vector<Arrow>& arrows() const { return arrows_; }
  int left(const Place& place) const { return left_[place.column] + (widths_[place.column] - box_width(place)) / 2; }
  int right(const Place& place) const { return left(place) + box_width(place); }

 private:
  /// An arrow passes the whole column.
  int box_width(const Place& place) const { return place.name.empty() ? widths_[place.column] : place.width(); }

  std::size_t add(Place place) {
    columns_.resize(std::max(columns_.size(), place.column + 1));
    columns_[place.column].push_back(places_.size());
    places_.push_back(std::move(place));
    return places_.size() - 1;
  }

  void add_box(const std::string& name) {
    std::size_t column = 0;
    for (const std::string& first : graph_.before.at(name))
      column = std::max(column, places_[boxes_.at(first)].column + 1);
    boxes_[name] = add({.name = name, .column = column});
  }

  void add_arrow(const std::string& first, const std::string& name) {
    Arrow arrow{is_required(graph_, name, first), {boxes_.at(first)}};
    const std::size_t last = boxes_.at(name);
    for (std::size_t column = places_[arrow.places.front()].column + 1; column < places_[last].column; ++column) {
      const auto [way, is_new] = ways_.try_emplace({first, arrow.required, column}, places_.size());
      if (is_new) add({.name = "", .column = column, .from = {arrow.places.back()}});
      arrow.places.push_back(way->second);
    }
    places_[last].from.push_back(arrow.places.back());
    arrow.places.push_back(last);
    arrows_.push_back(std::move(arrow));
  }

  /// Orders a column from top to bottom, each place near its predecessors.
  void arrange(std::vector<std::size_t>& column) {
    const auto height_of_sources = [&](std::size_t place) {
      const auto& from = places_[place].from;
      if (from.empty()) return 0;
      const int sum = std::accumulate(from.begin(), from.end(), 0,
                                      [&](int before, std::size_t source) { return before + places_[source].y; });
      return sum / static_cast<int>(from.size());
    };
    std::ranges::stable_sort(column, {}, height_of_sources);
    int y = 0;
    for (const std::size_t place : column) {
      places_[place].y = y + places_[place].height() / 2;
      y += places_[place].height() + kRowGap;
    }
    height_ = std::max(height_, y - kRowGap);
  }

  int height_of(const std::vector<std::size_t>& column) const {
    int height = -kRowGap;
    for (const std::size_t place : column) height += places_[place].height() + kRowGap;
    return height;
  }
  int width_of_column(const std::vector<std::size_t>& column) const {
    int width = 0;
    for (const std::size_t place : column) width = std::max(width, places_[place].width());
    return width;
  }

  const core::Graph& graph_;
  std::vector<Place> places_;
  std::vector<std::vector<std::size_t>> columns_;
  std::vector<Arrow> arrows_;
  std::map<std::string, std::size_t> boxes_;
  std::map<std::tuple<std::string, bool, std::size_t>, std::size_t> ways_;
  std::vector<int> left_, widths_;  ///< by column
  int height_ = 0;
};

std::string line_style(bool required) { return required ? "" : " stroke-dasharray=\"6 4\""; }

void draw_arrow(const Layout& layout, const Arrow& arrow, std::ostream& svg) {
  const auto& places = layout.places();
  const Place& first = places[arrow.places.front()];
  const Place& last = places[arrow.places.back()];
  int x = layout.right(first), y = first.y;
  svg << "  <path d=\"M" << x << ' ' << y;
  for (std::size_t i = 1; i < arrow.places.size(); ++i) {
    const Place& next = places[arrow.places[i]];
    const int to = layout.left(next), middle = (x + to) / 2;
    svg << " C" << middle << ' ' << y << ' ' << middle << ' ' << next.y << ' ' << to << ' ' << next.y;
    if (next.name.empty()) svg << " H" << layout.right(next);
    x = layout.right(next);
    y = next.y;
  }
  svg << "\" fill=\"none\" stroke=\"" << kLine << "\" stroke-width=\"2\" marker-end=\"url(#tip)\""
      << line_style(arrow.required) << "><title>" << xml_text(last.name) << (arrow.required ? " requires " : " after ")
      << xml_text(first.name) << "</title></path>\n";
}

void draw_box(const Layout& layout, const Place& box, std::ostream& svg) {
  const int left = layout.left(box), width = layout.right(box) - left;
  svg << "  <rect x=\"" << left << "\" y=\"" << box.y - kBoxHeight / 2 << "\" width=\"" << width << "\" height=\""
      << kBoxHeight << "\" rx=\"6\" fill=\"" << kBox << "\" stroke=\"" << kLine << "\" stroke-width=\"2\"/>\n"
      << "  <text x=\"" << left + width / 2 << "\" y=\"" << box.y + 5 << "\" text-anchor=\"middle\" fill=\"" << kText
      << "\">" << xml_text(box.name) << "</text>\n";
}

/// Draws the legend of the kinds of arrows.
void draw_legend(const Layout& layout, int y, std::ostream& svg) {
  int x = kMargin;
  for (const bool required : {true, false}) {
    if (std::ranges::count(layout.arrows(), required, &Arrow::required) == 0) continue;
    svg << "  <path d=\"M" << x << ' ' << y << " H" << x + 36 << "\" fill=\"none\" stroke=\"" << kLine
        << "\" stroke-width=\"2\" marker-end=\"url(#tip)\"" << line_style(required) << "/>\n"
        << "  <text x=\"" << x + 46 << "\" y=\"" << y + 5 << "\" fill=\"" << kLine << "\">"
        << (required ? "requires" : "after") << "</text>\n";
    x += 46 + 9 * kCharacter + kMargin;
  }
}

}  // namespace

std::string graph_dot(const core::Graph& graph) {
  std::ostringstream dot;
  dot << "digraph slipway {\n  rankdir=LR;\n  node [shape=box];\n";
  for (const std::string& name : graph.order) dot << "  \"" << dot_text(name) << "\";\n";
  for (const std::string& name : graph.order)
    for (const std::string& first : graph.before.at(name))
      dot << "  \"" << dot_text(first) << "\" -> \"" << dot_text(name) << "\""
          << (is_required(graph, name, first) ? "" : " [style=dashed]") << ";\n";
  dot << "}\n";
  return dot.str();
}

std::string graph_svg(const core::Graph& graph) {
  const Layout layout(graph);
  const bool has_arrows = !layout.arrows().empty();
  const int width = has_arrows ? std::max(layout.width(), kLegendWidth) : layout.width();
  const int height = layout.height() + (has_arrows ? kLegendHeight : 0);
  std::ostringstream svg;
  svg << "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"" << width
      << "\" height=\"" << height << "\" viewBox=\"0 0 " << width << ' ' << height
      << "\" role=\"img\" font-family=\"ui-monospace, Menlo, Consolas, monospace\" font-size=\"14\">\n"
      << "  <title>The order of the components</title>\n"
      << "  <defs><marker id=\"tip\" viewBox=\"0 0 10 10\" refX=\"10\" refY=\"5\" markerWidth=\"5\" markerHeight=\"5\""
      << " orient=\"auto\"><path d=\"M0 0 L10 5 L0 10 Z\" fill=\"" << kLine << "\"/></marker></defs>\n";
  for (const Arrow& arrow : layout.arrows()) draw_arrow(layout, arrow, svg);
  for (const Place& place : layout.places())
    if (!place.name.empty()) draw_box(layout, place, svg);
  if (has_arrows) draw_legend(layout, layout.height() + kLegendHeight / 2 - kMargin / 2, svg);
  svg << "</svg>\n";
  return svg.str();
}

}  // namespace slipway::cli
