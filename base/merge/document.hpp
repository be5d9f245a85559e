// SPDX-License-Identifier: Apache-2.0
// base/merge/document.hpp - a configuration file of somebody else: what it says, where, and how to change
// one key of it by splicing text.
//
// The libraries (nlohmann-json, toml++, yaml-cpp) parse and give positions. They never write: what they would write
// back has lost comments, order and spacing.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include <slipway/json.hpp>
#include <slipway/result.hpp>

namespace slipway::merge {

/// The names that lead to a value, outermost first. Lists are never entered.
using Key = std::vector<std::string>;

/// Bytes [begin, end) give way to `text`.
struct Splice {
  std::size_t begin = 0;
  std::size_t end = 0;
  std::string text;
};

class Document {
 public:
  virtual ~Document() = default;

  /// All that the document says. What JSON does not have (dates, NaN) is a list that equals only itself.
  virtual const Json& value() const = 0;
  /// How to make a key hold `value`: one that is not there, one with no value (null), or one whose value is not an
  /// object. Errors: `unsupported` for what the format or this editor cannot do there.
  virtual Result<std::vector<Splice>> set(const Key& key, const Json& value) const = 0;
  /// How to take a key that is there away, with its line or comma. Errors: as above.
  virtual Result<std::vector<Splice>> erase(const Key& key) const = 0;
};

/// @param format  "json", "toml" or "yaml"
/// @param bytes   without byte order mark; nothing but white space is an empty document
/// @param path    for messages
/// Errors: `invalid` with FILE:LINE:COLUMN when it does not parse, has a key twice, or is not an object; `unsupported`.
Result<std::unique_ptr<Document>> parse(const std::string& format, const std::string& bytes, const std::string& path);

Result<std::unique_ptr<Document>> parse_json(const std::string& bytes, const std::string& path);
Result<std::unique_ptr<Document>> parse_toml(const std::string& bytes, const std::string& path);
Result<std::unique_ptr<Document>> parse_yaml(const std::string& bytes, const std::string& path);

/// Splices that do not overlap, applied.
std::string spliced(const std::string& bytes, std::vector<Splice> splices);

/// "a.b.c", with quotes round names that have dots in them.
std::string to_text(const Key& key);

/// The error of a text that does not parse, "PATH:LINE:COLUMN: why".
Error broken(const std::string& path, std::size_t line, std::size_t column, const std::string& format,
             const std::string& why);
/// Line and column, both from 1, of an offset.
std::pair<std::size_t, std::size_t> position_of(const std::string& bytes, std::size_t offset);

/// The parts of a key that a document has: how many names lead to something, and what is there.
struct Reach {
  std::size_t depth = 0;
  const Json* value = nullptr;
};
Reach reach(const Json& document, const Key& key);

/// The objects that `names[from..]` with a value at the end make: {"b": {"c": value}}.
Json nested(const Key& names, std::size_t from, const Json& value);

}  // namespace slipway::merge
