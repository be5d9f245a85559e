// SPDX-License-Identifier: Apache-2.0
#include <filesystem>

#include "gfd/cluster_sink.hpp"
#include "gfd/gfd.hpp"
#include "gfd/labels/labels.hpp"
#include "gfd/probe.hpp"
#include "gfd/service.hpp"
#include "gfd/tool_options.hpp"

namespace slipway::gfd {
namespace {

/// Writes to the requested file, else to standard output.
Status deliver(const std::string& text, const std::string& file, ToolIo& io) {
  if (file.empty()) {
    io.print(text);
    return {};
  }
  std::error_code problem;
  const std::string path = std::filesystem::absolute(file, problem).string();
  if (problem) return system_error("find", file, problem.value());
  SLIPWAY_TRY(here, RootDir::open("/"));
  SLIPWAY_TRY(changed, write_feature_file(here, path, text));
  io.log(changed ? "wrote " + file : file + " is up to date");
  return {};
}

Result<ProbeResult> look(const ToolOptions& options, const Host& host, ToolIo& io) {
  for (const std::string& warning : options.config.warnings) io.warn(warning);
  SLIPWAY_TRY(seen, Probe(host, options.config, Probe::Use::tool).look(options.config.sharing));
  if (seen.no_driver && options.fail_without_driver) return *seen.no_driver;
  for (const Error& gpu : seen.sources.snapshot.unreachable)
    io.warn("left out a GPU that does not answer: " + gpu.what);
  if (seen.no_driver) io.log("no GPU has labels: " + seen.no_driver->what);
  return std::move(seen);
}

/// Returns the labels in the requested form; "text" is one line per label.
std::string text_of(const Labels& labels, const ToolOptions& options) {
  if (options.form == "nodefeature") return pretty(node_feature_object(labels, options.node, options.name_space));
  if (options.form == "node-patch") return pretty(node_labels_patch(labels, {}));
  if (options.json) return pretty(Json{{"apiVersion", "slipway.dev/v1"}, {"kind", "NodeLabels"}, {"labels", labels}});
  return to_lines(labels);
}

Result<int> labels(const CommandWords& words, const Host& host, ToolIo& io) {
  SLIPWAY_TRY(options, read_tool_options(words, true));
  SLIPWAY_TRY(seen, look(options, host, io));
  const Snapshot& snapshot = seen.sources.snapshot;
  for (const std::string& text : unmatched_sharing(snapshot.gpus, options.config, snapshot.absent)) io.warn(text);
  SLIPWAY_TRY(made, make_labels(seen.sources, options.config));
  if (const std::string dropped = drop_invalid(made); !dropped.empty())
    io.log("left out invalid Kubernetes labels: " + dropped);
  SLIPWAY_CHECK(deliver(text_of(made, options), options.output, io));
  return 0;
}

Result<int> devices(const CommandWords& words, const Host& host, ToolIo& io) {
  SLIPWAY_TRY(options, read_tool_options(words, false));
  SLIPWAY_TRY(seen, look(options, host, io));
  const std::vector<Json> objects = device_objects(seen.sources.snapshot, options.node);
  const auto document = [&objects] { return pretty(Json{{"apiVersion", "v1"}, {"kind", "List"}, {"items", objects}}); };
  SLIPWAY_CHECK(deliver(options.json ? document() : to_yaml(objects), options.output, io));
  return 0;
}

}  // namespace

Tools::Tools()
    : ToolTable({{"labels", "prints the node labels of GPU Feature Discovery", labels_line(), labels},
                 {"devices", "prints a Device object for each GPU", devices_line(), devices}}) {}

}  // namespace slipway::gfd
