// SPDX-License-Identifier: Apache-2.0
// core/engine/model/lockfile.hpp - slipway.lock: the manifests that a plan chose, by digest, so that the next plan
// chooses the same.
//
// JSON: {"apiVersion": "slipway.dev/v1", "kind": "Lock",
//        "components": {NAME: {SPEC_KEY: {"source": {…}, "entries": [{digest, tag, artifactType, annotations,
//        layers}]}}}}
// An entry holds all that planning needs of the manifest, so that planning from a lock needs neither network nor
// source.
#pragma once

#include <optional>
#include <string>

#include <slipway/json.hpp>
#include <slipway/result.hpp>

namespace slipway::core {

class Lock {
 public:
  static constexpr std::size_t kMostBytes = std::size_t{64} << 20U;  ///< limit for reading a file

  Lock() = default;
  /// Errors: `invalid` when it is not a lock of this apiVersion; the message names `origin`.
  static Result<Lock> from_json(const Json& value, const std::string& origin);
  /// Errors: `not_found`, and those of from_json().
  static Result<Lock> read(const std::string& file);
  /// Writes the lock under a temporary name and renames it. Does nothing when the file is equal already.
  Status write(const std::string& file) const;

  /// Returns the entries pinned for a source. Empty when there are none or the source has changed since.
  Json entries(const std::string& component, const std::string& key, const Json& source) const;
  /// Returns the source that the lock names instead of `source`. Empty when it names the same one or none.
  std::optional<Json> other_source(const std::string& component, const std::string& key, const Json& source) const;
  /// Replaces the entries pinned for that source.
  void pin(const std::string& component, const std::string& key, const Json& source, const Json& entries);

  Json to_json() const;
  bool empty() const { return components_.empty(); }
  /// The file, or "generation 3"; empty for a new lock.
  const std::string& origin() const { return origin_; }

 private:
  std::string origin_;
  Json components_ = Json::object();
};

}  // namespace slipway::core
