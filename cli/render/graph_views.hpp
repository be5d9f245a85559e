// SPDX-License-Identifier: Apache-2.0
// cli/render/graph_views.hpp - shows the order of the components: as text, for Graphviz, and as a picture.
#pragma once

#include <cstddef>
#include <string>

#include "app/engine.hpp"

namespace slipway::cli {

/// Returns a line for each component, in order, with a rail that runs down from it to the components that wait for it.
/// Leaves out the rails where they leave no room for words.
///
/// @param columns  the maximum width of a line, at least 40
/// @param utf8     the terminal shows box-drawing characters; else the text is ASCII
std::string graph_text(const core::Graph& graph, std::size_t columns, bool utf8);

/// Returns Graphviz text: requires as full lines, after as dashed ones.
std::string graph_dot(const core::Graph& graph);

/// Returns a self-contained SVG file, the same bytes for the same graph: a column of boxes for each step of the longest
/// path from a component that waits for none; requires as full arrows, after as dashed ones. The background is
/// transparent, and every colour is readable on white and on black.
std::string graph_svg(const core::Graph& graph);

}  // namespace slipway::cli
