// SPDX-License-Identifier: Apache-2.0
#include "core/graph/graph.hpp"

#include "cli/command.hpp"

namespace slipway::core {

Result<int> run_graph(const Options& options, TerminalUi& ui) {
  SLIPWAY_TRY(session, open_session(options, ui));
  SLIPWAY_TRY(loaded, load_spec(*session, options));
  std::vector<const Manifest*> manifests;
  for (const auto& [name, section] : loaded.spec.components) manifests.push_back(session->plugins().manifest(name));
  SLIPWAY_TRY(graph, make_graph(manifests));
  if (options.output == "text")
    print(graph.to_dot());
  else
    print(
        json_text(envelope("Graph", {{"order", graph.order}, {"requires", graph.requires_}, {"before", graph.before}}),
                  options.output));
  return kExitDone;
}

}  // namespace slipway::core
