// SPDX-License-Identifier: Apache-2.0
// base/merge/edit.hpp - sets several keys in a file, and can undo this later.
#pragma once

#include <string>
#include <vector>

#include <slipway/json.hpp>
#include <slipway/result.hpp>

#include "base/merge/document.hpp"

namespace slipway::merge {

/// One key and its desired value; null: the key must not exist.
struct DesiredKey {
  Key key;
  Json value;
};

/// Returns the keys of a `set` object, in order: descends into objects; everything else (an empty object too) is a
/// value.
std::vector<DesiredKey> desired_keys_of(const Json& set);

/// Records one key that was set, for undoing: {"key": […], "ours": value (null: removed), "was": value (missing: the
/// key did not exist), "made": how many of its names existed before, "fills": true when the value was empty, "edit":
/// {"before", "old", "new", "behind"} (missing: the key already had the value)}. `before` and `behind` are the text
/// beside the edit, to find it again.
using KeyRecord = Json;

struct Edited {
  std::string bytes;
  std::vector<KeyRecord> records;
};

/// Sets all keys. Bytes outside the edits are unchanged; parses the result again and checks that it has exactly the
/// requested changes. Errors: `invalid` a broken file; `conflict` where a key leads through a value; `unsupported`.
Result<Edited> set_keys(const std::string& bytes, const std::string& format,
                        const std::vector<DesiredKey>& desired_keys, const std::string& path);

/// Restores the former value for every record whose key still has the value `ours`; leaves the others alone. Exact to
/// the byte when the surroundings are unchanged. Errors: as above; `corrupt` for records that check_records() refuses,
/// or that would need more than 128 MiB of parsing.
Result<std::string> undo_keys(const std::string& bytes, const std::string& format,
                              const std::vector<KeyRecord>& records, const std::string& path);

/// Returns the document, {} for only white space.
Result<Json> read_value(const std::string& bytes, const std::string& format, const std::string& path);

/// Checks records from a file, in the form of set_keys() with the member `value` named "ours", or in a form derived
/// from it. Errors: `corrupt` one has another form, or there are more than 1000.
Status check_records(const Json& records, const char* value, const std::string& path);

/// True when a key has a value; null: when it does not exist.
bool holds(const Json& document, const Key& key, const Json& value);

}  // namespace slipway::merge
