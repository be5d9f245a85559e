// SPDX-License-Identifier: Apache-2.0
// core/engine/sources.hpp - the artifact sources that a component's spec names, and what they hold.
#pragma once

#include <map>
#include <string>

#include "core/engine/lockfile.hpp"
#include "core/engine/session.hpp"

namespace slipway::core {

/// An artifact source of a spec: its value as JSON, and the tags that matter.
struct NamedSource {
  Json source;
  std::string tag_prefix;
};

/// The sources of a section by dotted spec key, found through the schema's keys of type artifact-source.
std::map<std::string, NamedSource> named_sources(const Manifest& manifest, const Json& section);

/// The catalogues for plan(): {KEY: {source, complete, entries}}. With `whole`, the artifact worker reads them all;
/// otherwise only the lock is asked, and what it does not pin is left incomplete.
Result<Json> read_catalogues(Session& session, const std::string& component,
                             const std::map<std::string, NamedSource>& sources, const Lock& lock, bool whole);

/// The sources without where they stand.
std::map<std::string, Json> plain_sources(const std::map<std::string, NamedSource>& named);

}  // namespace slipway::core
