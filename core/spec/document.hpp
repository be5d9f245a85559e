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

/// A host spec that is known to fit the schemas of the plugins.
struct HostSpec {
  std::string file;               ///< where it was read from; "-" for standard input
  std::string name;               ///< metadata.name
  std::string hardware;           ///< "assume", "require", "detect"; empty: by liveness
  bool keeps_what_fails = false;  ///< `on_failed_verify: keep`
  ExpectedGpus expected = {};     ///< `expect`
  /// Section of each: defaults filled in, relative paths made absolute, artifact sources in their long form; below
  /// `sections` what its manifest has it read of other components' sections.
  std::map<std::string, Json> components;
  /// What was written, as typed JSON, for the generation's record (secrets are references anyway). Paths are absolute,
  /// so that it means the same wherever it is read from.
  Json document;
  /// Components that were applied and whose plugin is missing by now, or does not take their section any more: nothing
  /// of them can be planned or looked at. Each fails for this reason, and no other does.
  std::map<std::string, Error> unusable = {};
  /// It is asked for, whether its plugin is there or not.
  bool has(const std::string& component) const {
    return components.contains(component) || unusable.contains(component);
  }
  /// Components that the document has and that are not asked for: a generation names what was not applied yet.
  std::set<std::string> left_out = {};
  /// By component: what should be written in another way by now, each with its place.
  std::map<std::string, std::vector<std::string>> remarks = {};
  /// "file:line:column" of a dotted key ("components.driver.version"; "spec." in front is allowed); the nearest
  /// enclosing key's if it has none. "" when the spec has no positions.
  std::string position(const std::string& key) const;
  std::map<std::string, std::string> positions;
};

/// Errors: `invalid`: unreadable YAML, wrong apiVersion or kind, unknown component or key (with the nearest known one),
/// wrong type, missing required key, bad value; `unsupported`: a later apiVersion of slipway.dev, or a foreign kind.
/// Each names file:line:column. When several things are wrong, the first is the Error and the others are its details
/// ("also").
/// @param applied  Generation::plugins of what is in force: a component of it without a plugin is no misspelt name
Result<HostSpec> read_host_spec(const std::string& file, const Plugins& plugins, const Json& applied = {});
/// The same for a text; `file` names it in messages, and relative paths are relative to it.
Result<HostSpec> host_spec_from_text(std::string_view text, const std::string& file, const Plugins& plugins,
                                     const Json& applied = {});
/// The same for a document that is there already, as a generation has it; relative paths are relative to `file`. A
/// section of an applied component that its plugin does not take is that component's matter alone.
Result<HostSpec> host_spec_from_json(const Json& document, const std::string& file, const Plugins& plugins,
                                     const Json& applied = {});

inline constexpr const char* kApiVersion = "slipway.dev/v1";
inline constexpr const char* kHostKind = "Host";

/// The schema of all of a host spec but the components' own sections, which are a map here.
const SchemaKey& host_spec_schema();

/// Errors: `invalid` for a document that is not a host spec; `unsupported` for a later apiVersion of slipway.dev and
/// for a kind of the GPU Operator's.
Status check_kind(const YamlNode& document, const std::string& file);

/// The repository of an artifact source, in its short form or its long one.
std::string source_address(const Json& source);

}  // namespace slipway::core
