// SPDX-License-Identifier: Apache-2.0
// sdk/slipway/inputs.hpp - the inputs of plan() besides its own facts.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <slipway/json.hpp>
#include <slipway/result.hpp>

namespace slipway {

/// One manifest of an artifact source (OCI image-spec 1.1).
struct CatalogueEntry {
  std::string digest;         ///< of the manifest, "sha256:…"
  std::string tag;            ///< the tag that refers to it
  std::string artifact_type;  ///< for example "application/vnd.slipway.driver.v1"
  Json annotations;           ///< string to string
  Json layers;                ///< descriptors: {mediaType, digest, size, annotations}

  std::string annotation(std::string_view key) const;
  /// Returns the layer whose annotation `dev.slipway.layer` is `role`; null if not found.
  Json layer(std::string_view role) const;
};

/// The contents of an artifact source named in the spec.
struct Catalogue {
  std::string source;    ///< the repository, for messages
  bool complete = true;  ///< false: only lock and cache. Answer `needs_catalogue` when that is not enough for the plan
  std::vector<CatalogueEntry> entries;
  std::vector<std::string> unread = {};  ///< further tags of the source, whose entries were not read; sorted
};

/// Returned by plan() instead of a plain `needs_catalogue` when some tags of a source are enough, since each entry of a
/// registry costs a request. When plan() is called again, the catalogue has the entries of all tags with a prefix
/// requested so far (entries without a tag count as requested), `unread` names the others, and `complete` is true when
/// there are none. Without a prefix: only the names.
Error needs_tags(const Catalogue& catalogue, const std::vector<std::string>& prefixes);

/// The properties of the target machine, as far as the command line and the core determine them.
struct Target {
  std::string kernel_release;  ///< empty when it is unknown; `kernel_problem` then has the reason
  Json kernel_problem;         ///< an error object, or null
  bool live = false;           ///< the plan is for this running machine; else for a root filesystem
  std::string arch;            ///< in the form of `uname -m`: "x86_64", "aarch64"
  std::string hardware;        ///< "assume", "require" or "detect" (the spec's `hardware`, or its default)
  std::string slipway = "/usr/bin/slipway";  ///< inside the root: the program that units start, which may not exist yet
};

/// Everything that plan() may read. The same spec, facts and inputs always give the same plan. As JSON:
///   {"target": {the members of Target}, "outputs": {COMPONENT: {NAME: value}},
///    "catalogues": {SPEC-KEY: {"source", "complete", "entries": [{"digest", "tag", "artifactType", "annotations",
///    "layers"}], "unread": [TAG…]}}}
class Inputs {
 public:
  explicit Inputs(Json value = Json::object());

  const Target& target() const { return target_; }
  /// Returns an output of a component that this one requires or comes after ("driver", "driver_root"); null when it has
  /// none.
  Json output(std::string_view component, std::string_view name) const;
  /// Returns the catalogue of the artifact source at a spec key ("source"). Errors: `not_found` when the spec has none
  /// there.
  Result<Catalogue> catalogue(std::string_view spec_key) const;

 private:
  Json value_;
  Target target_;
};

}  // namespace slipway
