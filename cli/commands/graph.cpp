// SPDX-License-Identifier: Apache-2.0

#include <unistd.h>

#include <slipway/text/display.hpp>

#include "cli/command.hpp"
#include "cli/render/graph_views.hpp"
#include "cli/render/text.hpp"

namespace slipway::cli {
namespace {

constexpr std::size_t kColumnsOfAFile = 80;

/// Returns the graph in the form that `-o` names.
std::string in_form(const core::Graph& graph, const std::string& output) {
  if (output == "dot") return graph_dot(graph);
  if (output == "svg") return graph_svg(graph);
  if (output != "text")
    return json_text(
        envelope("Graph", {{"order", graph.order}, {"requires", graph.requires_}, {"before", graph.before}}), output);
  const std::size_t columns = columns_of(STDOUT_FILENO);
  return graph_text(graph, columns == 0 ? kColumnsOfAFile : columns, locale_is_utf8());
}

}  // namespace

Result<int> run_graph(const Options& options, TerminalUi& ui) {
  SLIPWAY_TRY(session, open_session(options, ui));
  SLIPWAY_TRY(loaded, load_spec(*session, options));
  std::vector<const core::Manifest*> manifests;
  for (const auto& [name, section] : loaded.spec.components) manifests.push_back(session->plugins().manifest(name));
  SLIPWAY_TRY(graph, core::make_graph(manifests));
  print(in_form(graph, options.output));
  return core::kExitDone;
}

}  // namespace slipway::cli
