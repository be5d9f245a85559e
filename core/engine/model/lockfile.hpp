// SPDX-License-Identifier: Apache-2.0
// core/engine/model/lockfile.hpp - slipway.lock: the manifests that a plan chose, by digest, so that the next one
// chooses the same.
//
// JSON: {"apiVersion": "slipway.dev/v1", "kind": "Lock",
//        "components": {NAME: {SPEC_KEY: {"source": {…}, "entries": [{digest, tag, artifactType, annotations,
//        layers}]}}}}
// An entry holds the whole manifest's worth, so that planning from a lock touches neither network nor source.
#pragma once

#include <optional>
#include <string>

#include <slipway/json.hpp>
#include <slipway/result.hpp>

namespace slipway::core {

class Lock {
 public:
  static constexpr std::size_t kMostBytes = std::size_t{64} << 20U;  ///< that are read of a file

  Lock() = default;
  /// Errors: `invalid` when it is not a lock of this apiVersion; `origin` goes into the message.
  static Result<Lock> from_json(const Json& value, const std::string& origin);
  /// Errors: `not_found`, and those of from_json().
  static Result<Lock> read(const std::string& file);
  /// Writes it by temporary name and rename, unless the file is equal already.
  Status write(const std::string& file) const;

  /// The entries pinned for a source, an empty array when there are none or the source has changed since.
  Json entries(const std::string& component, const std::string& key, const Json& source) const;
  /// The source that the lock names there instead of `source`; nothing when it names the same or none.
  std::optional<Json> other_source(const std::string& component, const std::string& key, const Json& source) const;
  /// Replaces what is pinned for that source.
  void pin(const std::string& component, const std::string& key, const Json& source, const Json& entries);

  Json to_json() const;
  bool empty() const { return components_.empty(); }
  /// The file, or "generation 3"; empty for one that is new.
  const std::string& origin() const { return origin_; }

 private:
  std::string origin_;
  Json components_ = Json::object();
};

}  // namespace slipway::core
