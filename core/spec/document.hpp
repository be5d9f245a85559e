// SPDX-License-Identifier: Apache-2.0
// core/spec/document.hpp - reads a host spec (YAML) and checks it against the schemas before anything is touched.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include <slipway/json.hpp>
#include <slipway/result.hpp>

#include "base/yaml/tree.hpp"
#include "core/loader/manifest.hpp"
#include "core/loader/plugin_file.hpp"
#include "core/spec/expected_gpus.hpp"

namespace slipway::core {

/// A host spec that matches the schemas of the plugins.
struct HostSpec {
  std::string file;                   ///< its file; "-" for standard input
  std::string name;                   ///< metadata.name
  std::string hardware;               ///< "assume", "require", "detect"; empty: depends on whether the root is live
  bool keeps_failed_changes = false;  ///< `on_failed_verify: keep`
  bool gates_boot = false;            ///< `boot_gate: true`
  ExpectedGpus expected = {};         ///< `expect`
  /// The section of each component: defaults filled in, relative paths made absolute, artifact sources in their long
  /// form; `sections` contains the parts of other components' sections that its manifest lets it read.
  std::map<std::string, Json> components;
  /// The document as typed JSON, for the generation's record (secrets are references anyway). Paths are absolute, so
  /// that it is valid from any folder.
  Json document;
  /// Components that were applied and whose plugin is missing now, or no longer accepts their section: they cannot be
  /// planned or verified. Each one fails with this error; the others are not affected.
  std::map<std::string, Error> unusable = {};
  /// True when the spec asks for it, with or without its plugin.
  bool has(const std::string& component) const {
    return components.contains(component) || unusable.contains(component);
  }
  /// Components in the document that are not asked for: a generation also names those that were not applied yet.
  std::set<std::string> left_out = {};
  /// By component: deprecated forms, each with its position.
  std::map<std::string, std::vector<std::string>> remarks = {};
  /// Returns "file:line:column" of a dotted key ("components.driver.version"; the prefix "spec." is allowed), or of the
  /// nearest enclosing key that has a position. "" when the spec has no positions.
  std::string position(const std::string& key) const;
  std::map<std::string, std::string> positions;
};

/// Errors: `invalid`: unreadable YAML, wrong apiVersion or kind, unknown component or key (with the nearest known one),
/// wrong type, missing required key, bad value; `unsupported`: a later apiVersion of slipway.dev, or a foreign kind.
/// Each names file:line:column. With several problems, the first is the Error and the others are its details ("also").
/// @param applied  Generation::plugins of the active generation: its component without a plugin is not a misspelt name
Result<HostSpec> read_host_spec(const std::string& file, const Plugins& plugins, const Json& applied = {});
/// The same for a text; `file` names it in messages, and relative paths are relative to it.
Result<HostSpec> host_spec_from_text(std::string_view text, const std::string& file, const Plugins& plugins,
                                     const Json& applied = {});
/// The same for a parsed document, such as a generation's; relative paths are relative to `file`. An applied component
/// whose section its plugin rejects fails alone.
Result<HostSpec> host_spec_from_json(const Json& document, const std::string& file, const Plugins& plugins,
                                     const Json& applied = {});

inline constexpr const char* kApiVersion = "slipway.dev/v1";
inline constexpr const char* kHostKind = "Host";

/// The schema of a host spec, except for the components' own sections, which are a map here.
const SchemaKey& host_spec_schema();

/// Errors: `invalid` for a document that is not a host spec; `unsupported` for a later apiVersion of slipway.dev and
/// for a kind of the GPU Operator.
Status check_kind(const base::YamlNode& document, const std::string& file);

/// The repository of an artifact source, in its short or long form.
std::string source_address(const Json& source);

}  // namespace slipway::core
