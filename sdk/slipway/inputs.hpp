// SPDX-License-Identifier: Apache-2.0
// sdk/slipway/inputs.hpp - what plan() may lean on besides its own facts.
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
  std::string tag;            ///< where it was found
  std::string artifact_type;  ///< for example "application/vnd.slipway.driver.v1"
  Json annotations;           ///< string to string
  Json layers;                ///< descriptors: {mediaType, digest, size, annotations}

  std::string annotation(std::string_view key) const;
  /// The layer whose annotation `dev.slipway.layer` is `role`; null where there is none.
  Json layer(std::string_view role) const;
};

/// What an artifact source named in the spec holds.
struct Catalogue {
  std::string source;    ///< the repository, for messages
  bool complete = true;  ///< false: lock and cache only. Answer `needs_catalogue` when that does not decide the plan
  std::vector<CatalogueEntry> entries;
  std::vector<std::string> unread = {};  ///< tags that the source has as well, whose entries were not read; sorted
};

/// What plan() answers instead of a plain `needs_catalogue` when some tags of a source will do, since each entry of a
/// registry costs a request. Asked again, the catalogue has the entries of all tags that begin with a prefix asked for
/// so far (what has no tag counts as asked for), `unread` names the others, and `complete` says that there are none.
/// Without a prefix: the names alone.
Error needs_tags(const Catalogue& catalogue, const std::vector<std::string>& prefixes);

/// What the machine that is planned for is like, as far as the command line and the core fix it.
struct Target {
  std::string kernel_release;  ///< empty when it could not be told; `kernel_problem` then says why
  Json kernel_problem;         ///< an error object, or null
  bool live = false;           ///< plan for this running machine; else for a root filesystem
  std::string arch;            ///< as `uname -m` says it: "x86_64", "aarch64"
  std::string hardware;        ///< "assume", "require" or "detect" (the spec's `hardware`, or its default)
  std::string slipway = "/usr/bin/slipway";  ///< inside the root: the program that units start, if it is there or not
};

/// Everything that plan() may read. The same spec, facts and inputs always give the same plan. As JSON:
///   {"target": {the members of Target}, "outputs": {COMPONENT: {NAME: value}},
///    "catalogues": {SPEC-KEY: {"source", "complete", "entries": [{"digest", "tag", "artifactType", "annotations",
///    "layers"}], "unread": [TAG…]}}}
class Inputs {
 public:
  explicit Inputs(Json value = Json::object());

  const Target& target() const { return target_; }
  /// An output of a component that this one requires or comes after ("driver", "driver_root"); null when it has none.
  Json output(std::string_view component, std::string_view name) const;
  /// The catalogue of the artifact source at a spec key ("source"). Errors: `not_found` when the spec names none there.
  Result<Catalogue> catalogue(std::string_view spec_key) const;

 private:
  Json value_;
  Target target_;
};

}  // namespace slipway
