// SPDX-License-Identifier: Apache-2.0
// base/merge/edit.hpp - several keys set in a file, and taken back later by whoever set them.
#pragma once

#include <string>
#include <vector>

#include <slipway/json.hpp>
#include <slipway/result.hpp>

#include "base/merge/document.hpp"

namespace slipway::merge {

/// One key and what it is to be; null: it must not be there.
struct DesiredKey {
  Key key;
  Json value;
};

/// The keys of a `set` object, in order: objects are descended, everything else (an empty object too) is a value.
std::vector<DesiredKey> desired_keys_of(const Json& set);

/// One key that was set, to be undone: {"key": […], "ours": value (null: removed), "was": value (missing: it was not
/// there), "made": how many of its names led somewhere before, "fills": true when that was an empty value, "edit":
/// {"before", "old", "new", "behind"} (missing: it held already)}. `before` and `behind` are what stood next to the
/// edit, to find it again.
using KeyRecord = Json;

struct Edited {
  std::string bytes;
  std::vector<KeyRecord> records;
};

/// Sets all keys. Bytes outside the edits stay as they are; the result is parsed again and says what was asked for and
/// nothing else. Errors: `invalid` a broken file; `conflict` where a key leads through a value; `unsupported`.
Result<Edited> set_keys(const std::string& bytes, const std::string& format,
                        const std::vector<DesiredKey>& desired_keys, const std::string& path);

/// Brings back what was there, for every record whose key still holds `ours`; others are left alone. Byte for byte
/// where the surroundings are as they were. Errors: as above; `corrupt` records that check_records() refuses, or with
/// which more than 128 MiB would have to be parsed.
Result<std::string> undo_keys(const std::string& bytes, const std::string& format,
                              const std::vector<KeyRecord>& records, const std::string& path);

/// The document, {} for nothing but white space.
Result<Json> read_value(const std::string& bytes, const std::string& format, const std::string& path);

/// Records that come from a file: as set_keys() makes them, where `value` is "ours", or as who keeps them makes them of
/// these. Errors: `corrupt` one is not, or there are more than 1000.
Status check_records(const Json& records, const char* value, const std::string& path);

/// A key holds a value; null: it is not there.
bool holds(const Json& document, const Key& key, const Json& value);

}  // namespace slipway::merge
