// SPDX-License-Identifier: Apache-2.0
// core/engine/packages/sources.hpp - the artifact sources that a component's spec names, and their contents.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "core/engine/model/lockfile.hpp"
#include "core/engine/session.hpp"

namespace slipway::core {

/// An artifact source of a spec: its value as JSON, and the relevant tags.
struct NamedSource {
  Json source;
  std::string tag_prefix;
};

/// Returns the sources of a section by dotted spec key. The schema's keys of type artifact-source tell where they are.
std::map<std::string, NamedSource> named_sources(const Manifest& manifest, const Json& section);

/// Tracks how much of its sources a plugin has seen: first the lock's part, then more after each `needs_catalogue`.
class CatalogueReading {
 public:
  /// Adds what the answer asks for (needs_tags() of the SDK; else everything). Returns false when the plugin has seen
  /// that already.
  bool widen(const Error& needs_catalogue);
  /// A reading of the sources themselves: of tags with these prefixes; without any, of everything.
  static CatalogueReading of_tags(const std::vector<std::string>& prefixes);

  enum class Part { lock, tags, all };
  Part part() const { return part_; }
  /// The tag prefixes for Part::tags.
  const std::set<std::string>& tag_prefixes() const { return prefixes_; }

 private:
  Part part_ = Part::lock;
  std::set<std::string> prefixes_;
};

/// Returns the catalogues for plan(): {KEY: {source, complete, entries, unread}}, read by the artifact worker or from
/// the lock alone.
Result<Json> read_catalogues(Session& session, const std::string& component,
                             const std::map<std::string, NamedSource>& sources, const Lock& lock,
                             const CatalogueReading& reading);

/// Returns the sources without their positions in the spec.
std::map<std::string, Json> plain_sources(const std::map<std::string, NamedSource>& named);

}  // namespace slipway::core
