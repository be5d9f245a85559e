// SPDX-License-Identifier: Apache-2.0
// cli/render/graph_views.hpp - the order of the components for people: as text, for Graphviz, and as a picture.
#pragma once

#include <cstddef>
#include <string>

#include "core/graph/graph.hpp"

namespace slipway::core {

/// A line for each component, in order, with a rail that runs down from it to those that wait for it; without the
/// rails where they leave no room for words.
///
/// @param columns  what no line is wider than, at least 40
/// @param utf8     the terminal shows box-drawing characters; else all of it is ASCII
std::string graph_text(const Graph& graph, std::size_t columns, bool utf8);

/// Graphviz text: requires as full lines, after as dashed ones.
std::string graph_dot(const Graph& graph);

/// An SVG file that needs no other, the same bytes for the same graph: a column of boxes for each step of the longest
/// way from a component that waits for none; requires as full arrows, after as dashed ones. The background is
/// transparent, and every colour can be read on white and on black.
std::string graph_svg(const Graph& graph);

}  // namespace slipway::core
