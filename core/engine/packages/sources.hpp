// SPDX-License-Identifier: Apache-2.0
// core/engine/packages/sources.hpp - the artifact sources that a component's spec names, and what they hold.
#pragma once

#include <map>
#include <set>
#include <string>

#include "core/engine/model/lockfile.hpp"
#include "core/engine/session.hpp"

namespace slipway::core {

/// An artifact source of a spec: its value as JSON, and the tags that matter.
struct NamedSource {
  Json source;
  std::string tag_prefix;
};

/// The sources of a section by dotted spec key, found through the schema's keys of type artifact-source.
std::map<std::string, NamedSource> named_sources(const Manifest& manifest, const Json& section);

/// How much of its sources a plugin is shown: the lock's part first, and more each time it answers `needs_catalogue`.
class CatalogueReading {
 public:
  /// Takes in what the answer asks for (needs_tags() of the SDK; else everything). False: it was shown that already.
  bool widen(const Error& needs_catalogue);

  enum class Part { lock, tags, all };
  Part part() const { return part_; }
  /// For Part::tags.
  const std::set<std::string>& tag_prefixes() const { return prefixes_; }

 private:
  Part part_ = Part::lock;
  std::set<std::string> prefixes_;
};

/// The catalogues for plan(): {KEY: {source, complete, entries, unread}}, by the artifact worker, or of the lock alone.
Result<Json> read_catalogues(Session& session, const std::string& component,
                             const std::map<std::string, NamedSource>& sources, const Lock& lock,
                             const CatalogueReading& reading);

/// The sources without where they stand.
std::map<std::string, Json> plain_sources(const std::map<std::string, NamedSource>& named);

}  // namespace slipway::core
