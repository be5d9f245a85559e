// SPDX-License-Identifier: Apache-2.0
// core/loader/schema/schema_key.hpp - the schema of one key of a spec, as a manifest gives it.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <slipway/json.hpp>

namespace slipway::core {

/// The schema of one spec key (docs/manifest.md).
struct SchemaKey {
  enum class Type { string, integer, boolean, enumeration, list, map, object, artifact_source, path, secret, any };
  Type type = Type::any;
  bool required = false;
  Json default_value;                     ///< null when there is no default
  std::string help;                       ///< one sentence or more, for `slipway explain`
  std::string pattern;                    ///< ECMAScript regular expression for a string; empty: any
  std::string expects;                    ///< a description of valid texts: "an absolute path"
  std::string example;                    ///< a value that pattern and type accept
  std::vector<std::string> values;        ///< the values of an enumeration
  std::vector<SchemaKey> items;           ///< one element: the schema of a list's elements or a map's values
  std::map<std::string, SchemaKey> keys;  ///< the keys of an object
  std::optional<std::int64_t> least;  ///< for an integer its minimum; for a list or map the minimum number of elements
  std::optional<std::int64_t> most;   ///< the maximum, likewise
  std::vector<std::string> formerly;  ///< earlier names of the key, still accepted
  std::string deprecated;             ///< what to use instead; empty: not deprecated
  std::string tag_prefix;  ///< of an artifact source: only tags with this prefix; "{version}" stands for a sibling key
};

}  // namespace slipway::core
