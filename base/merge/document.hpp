// SPDX-License-Identifier: Apache-2.0
// base/merge/document.hpp - a configuration file of another program: its values, their positions, and how
// to change one key by splicing text.
//
// The libraries (nlohmann-json, toml++, yaml-cpp) parse and give positions. They never write: their output would lose
// comments, order and spacing.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include <slipway/json.hpp>
#include <slipway/result.hpp>

namespace slipway::merge {

/// The names that lead to a value, outermost first. A key never leads into a list.
using Key = std::vector<std::string>;

/// Replaces bytes [begin, end) by `text`.
struct Splice {
  std::size_t begin = 0;
  std::size_t end = 0;
  std::string text;
};

class Document {
 public:
  virtual ~Document() = default;

  /// Returns the whole document. Values without a JSON form (dates, NaN) become a list that equals only itself.
  virtual const Json& value() const = 0;
  /// Returns the splices that give a key the value `value`. The key may be missing, empty (null), or have a value that
  /// is not an object. Errors: `unsupported` for an edit that the format or this editor cannot make there.
  virtual Result<std::vector<Splice>> set(const Key& key, const Json& value) const = 0;
  /// Returns the splices that remove an existing key, with its line or comma. Errors: as above.
  virtual Result<std::vector<Splice>> erase(const Key& key) const = 0;
};

/// @param format  "json", "toml" or "yaml"
/// @param bytes   without byte order mark; only white space is an empty document
/// @param path    for messages
/// Errors: `invalid` with FILE:LINE:COLUMN when it does not parse, has a duplicate key, or is not an object;
/// `unsupported`.
Result<std::unique_ptr<Document>> parse(const std::string& format, const std::string& bytes, const std::string& path);

Result<std::unique_ptr<Document>> parse_json(const std::string& bytes, const std::string& path);
Result<std::unique_ptr<Document>> parse_toml(const std::string& bytes, const std::string& path);
Result<std::unique_ptr<Document>> parse_yaml(const std::string& bytes, const std::string& path);

/// Applies splices that do not overlap.
std::string spliced(const std::string& bytes, std::vector<Splice> splices);

/// "a.b.c", with quotes round names that have dots in them.
std::string to_text(const Key& key);

/// Returns the error for a text that does not parse, "PATH:LINE:COLUMN: why".
Error broken(const std::string& path, std::size_t line, std::size_t column, const std::string& format,
             const std::string& why);
/// Returns line and column of an offset, both from 1.
std::pair<std::size_t, std::size_t> position_of(const std::string& bytes, std::size_t offset);

/// The part of a key that exists in a document: the number of names that lead to something, and the value there.
struct Reach {
  std::size_t depth = 0;
  const Json* value = nullptr;
};
Reach reach(const Json& document, const Key& key);

/// Returns the objects that `names[from..]` with a value at the end make: {"b": {"c": value}}.
Json nested(const Key& names, std::size_t from, const Json& value);

}  // namespace slipway::merge
