// SPDX-License-Identifier: Apache-2.0
#include "cli/explain/explain.hpp"

#include <algorithm>

#include <slipway/text.hpp>

#include "cli/command.hpp"
#include "cli/render/render.hpp"

namespace slipway::cli {
namespace {

constexpr const char* kOutputSchema = "output";

/// Runs `slipway explain --schema [output]`.
Result<int> print_schema(const Options& options) {
  if (!options.arguments.empty() && options.arguments.front() != kOutputSchema)
    return Error{ErrorCode::usage,
                 "there is no schema of '" + options.arguments.front() + "'",
                 "command line",
                 "`slipway explain --schema` prints the schema of host.yaml, `slipway explain --schema output` the "
                 "schema of what commands print with -o json and -o jsonl",
                 {}};
  if (!options.arguments.empty()) {
    print(json_text(output_schema(), options.output));
    return core::kExitDone;
  }
  SLIPWAY_TRY(plugins, core::discover_plugins(core::plugin_folders(true)));
  std::vector<const core::Manifest*> manifests;
  for (const auto& [component, path] : plugins.component_to_path) manifests.push_back(plugins.manifest(component));
  print(json_text(host_json_schema(manifests), options.output));
  return core::kExitDone;
}

void print_components(const core::Plugins& plugins, const Options& options) {
  std::vector<TableRow> rows;
  Json components = Json::array();
  for (const auto& [component, path] : plugins.component_to_path) {
    const std::string& purpose = plugins.manifest(component)->purpose;
    rows.push_back({{Tone::heading, component}, {Tone::plain, purpose}});
    components.push_back({{"component", component}, {"purpose", purpose}});
  }
  if (options.output == "text")
    print_wrapped(Page().table(rows));
  else
    print(json_text(envelope("Components", {{"components", components}}), options.output));
}

constexpr const char* kSpecWord = "spec";

/// Returns the spec's keys outside the components, in the form of a component.
core::Manifest keys_of_spec() {
  core::Manifest manifest;
  manifest.component = kSpecWord;
  manifest.purpose = "keys of the host spec besides its components";
  manifest.spec = core::host_spec_schema().keys.at(kSpecWord);
  manifest.spec.keys.erase("components");
  return manifest;
}

Result<int> print_explanation(const core::Manifest& manifest, const std::string& key, const Options& options) {
  if (options.output == "text") {
    SLIPWAY_TRY(text, explain(manifest, key));
    print(text);
  } else {
    SLIPWAY_TRY(json, explain_json(manifest, key));
    print(json_text(envelope("Explanation", json), options.output));
  }
  return core::kExitDone;
}

/// A manifest may name components of plugins that are not installed here.
core::Manifest with_known_relations(core::Manifest manifest, const core::Plugins& plugins) {
  std::erase_if(manifest.after, [&](const std::string& name) {
    return std::ranges::none_of(plugins.component_to_path, [&](const auto& other) {
      return core::is_among(*plugins.manifest(other.first), {name});
    });
  });
  return manifest;
}

}  // namespace

Result<int> run_explain(const Options& options, TerminalUi&) {
  if (options.schema) return print_schema(options);
  SLIPWAY_TRY(plugins, core::discover_plugins(core::plugin_folders(true)));
  if (options.arguments.empty()) return print_components(plugins, options), core::kExitDone;
  const std::string& word = options.arguments.front();
  const std::size_t dot = word.find('.');
  const std::string key = dot == std::string::npos ? "" : word.substr(dot + 1);
  const std::string name = word.substr(0, dot);
  if (plugins.manifest(name) == nullptr) {
    const core::Manifest spec = keys_of_spec();
    if (name == kSpecWord) return print_explanation(spec, key, options);
    if (spec.spec.keys.contains(name)) return print_explanation(spec, word, options);
  }
  SLIPWAY_TRY(manifest, named_component(plugins, name));
  return print_explanation(with_known_relations(*manifest, plugins), key, options);
}

}  // namespace slipway::cli
