// SPDX-License-Identifier: Apache-2.0
// core/loader/schema/schema_key.hpp - what a manifest says of one key of a spec.
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
  Json default_value;                     ///< null: none
  std::string help;                       ///< one sentence or more, for `slipway explain`
  std::string pattern;                    ///< ECMAScript regular expression for a string; empty: any
  std::string expects;                    ///< what fits the pattern, for people: "an absolute path"
  std::string example;                    ///< a value that pattern and type accept
  std::vector<std::string> values;        ///< of an enumeration
  std::vector<SchemaKey> items;           ///< one element: of a list's elements or a map's values
  std::map<std::string, SchemaKey> keys;  ///< of an object
  std::optional<std::int64_t> least;      ///< of an integer; of a list or map, how many elements it has
  std::optional<std::int64_t> most;       ///< likewise
  std::vector<std::string> formerly;      ///< earlier names of the key, which are still understood
  std::string deprecated;                 ///< what to write instead; empty: it is not
  std::string tag_prefix;  ///< of an artifact source: only tags that start so; "{version}" stands for a sibling key
};

}  // namespace slipway::core
