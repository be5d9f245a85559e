// SPDX-License-Identifier: Apache-2.0
#include "base/merge/edit.hpp"

#include <algorithm>
#include <functional>
#include <optional>

namespace slipway::merge {
namespace {

constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";
constexpr std::size_t kContext = 80;
constexpr std::size_t kMostTries = 64;    ///< each costs a parse
constexpr std::size_t kLeastContext = 8;  ///< fewer bytes do not identify a place
constexpr std::size_t kMostRecords = 1000;
constexpr std::size_t kMostParsed = std::size_t{128} << 20U;  ///< bytes, seconds of work

using Change = std::function<Result<std::vector<Splice>>(const Document&)>;

/// A text in one of the formats, and its kind of line ends.
struct File {
  std::string format;
  std::string path;
  mutable std::size_t left = kMostParsed;  ///< bytes that read() may still parse

  Result<std::unique_ptr<Document>> read(const std::string& bytes) const {
    if (bytes.size() > left)
      return Error{ErrorCode::corrupt,
                   path + ": slipway's changes to it take too long to undo",
                   path,
                   "remove slipway's keys from it by hand",
                   {}};
    left -= bytes.size();
    return parse(format, without_mark(bytes), path);
  }
  static std::size_t mark_size(const std::string& bytes) {
    return bytes.starts_with(kByteOrderMark) ? kByteOrderMark.size() : 0;
  }
  static std::string without_mark(const std::string& bytes) { return bytes.substr(mark_size(bytes)); }
};

/// Ends the lines of new text as the file does.
std::string with_line_ends(const std::string& text, const std::string& bytes) {
  const std::size_t newline = bytes.find('\n');
  const bool dos = newline != std::string::npos && newline > 0 && bytes[newline - 1] == '\r';
  std::string result;
  for (const char c : text) {
    if (c == '\n' && dos && !result.ends_with('\r')) result += '\r';
    result += c;
  }
  return result;
}

/// Combines several splices into one that spans them.
Splice spanning(const std::string& bytes, std::vector<Splice> splices) {
  Splice all{splices.front().begin, splices.front().end, {}};
  for (const Splice& splice : splices) {
    all.begin = std::min(all.begin, splice.begin);
    all.end = std::max(all.end, splice.end);
  }
  for (Splice& splice : splices) {
    splice.begin -= all.begin;
    splice.end -= all.begin;
  }
  all.text = spliced(bytes.substr(all.begin, all.end - all.begin), std::move(splices));
  return all;
}

/// Returns the document with one key set; creates objects on the way.
Json with(Json document, const Key& key, const Json& value) {
  Json* at = &document;
  for (const std::string& name : key) {
    if (!at->is_object()) *at = Json::object();
    at = &(*at)[name];
  }
  *at = value;
  return document;
}

/// Returns the document without a key.
Json without(Json document, const Key& key) {
  Json* at = &document;
  for (std::size_t i = 0; i + 1 < key.size(); ++i) {
    if (!at->is_object() || !at->contains(key[i])) return document;
    at = &(*at)[key[i]];
  }
  if (at->is_object()) at->erase(key.back());
  return document;
}

/// True when equal, except that objects on the way to `key` that became empty may be missing or empty ("a:" in YAML).
bool says(const Json& found, Json wanted, const Key& key) {
  for (std::size_t depth = key.size(); depth > 0; --depth) {
    if (found == wanted) return true;
    const Key above(key.begin(), key.begin() + static_cast<std::ptrdiff_t>(depth - 1));
    if (above.empty()) return false;
    const Reach existing = reach(wanted, above);
    if (existing.depth != above.size() || !existing.value->empty()) return false;
    wanted = without(std::move(wanted), above);
  }
  return found == wanted;
}

/// Makes one change (without a value, removes the key), and checks that it had the intended effect.
Result<Splice> change(const File& file, const std::string& bytes, const Key& key, const std::optional<Json>& value) {
  SLIPWAY_TRY(document, file.read(bytes));
  auto splices = value ? document->set(key, *value) : document->erase(key);
  if (!splices) {
    Error error = std::move(splices).error();
    error.where = file.path;
    error.what = file.path + ": " + error.what;
    return error;
  }
  const std::string text = File::without_mark(bytes);
  Splice splice = spanning(text, std::move(*splices));
  splice.text = with_line_ends(splice.text, text);
  const auto result = parse(file.format, spliced(text, {splice}), file.path);
  const Json wanted = value ? with(document->value(), key, *value) : without(document->value(), key);
  if (!result || !says((*result)->value(), wanted, key))
    return Error{ErrorCode::unsupported,
                 file.path + ": " + to_text(key) + " cannot be changed without changing something else",
                 file.path,
                 "change it by hand to " + (value ? canonical(*value) : std::string("nothing")),
                 {}};
  splice.begin += File::mark_size(bytes);
  splice.end += File::mark_size(bytes);
  return splice;
}

Error leads_through_a_value(const File& file, const Key& key, std::size_t depth, const Json& value) {
  const Key above(key.begin(), key.begin() + static_cast<std::ptrdiff_t>(depth));
  const std::string meant =
      depth == key.size() ? "it should have a single value" : to_text(key) + " should be set below it";
  return Error{ErrorCode::conflict,
               file.path + ": " + to_text(above) + " is " + canonical(value).substr(0, 60) + ", and " + meant,
               file.path,
               "remove " + to_text(above) + " from the file, then run the same command again",
               {}};
}

/// Records the surroundings of an edit, to find it again when other parts of the file have moved.
Json edit_record(const std::string& bytes, const Splice& splice) {
  const std::size_t before = std::min(splice.begin, kContext);
  return Json{{"before", bytes.substr(splice.begin - before, before)},
              {"old", bytes.substr(splice.begin, splice.end - splice.begin)},
              {"new", splice.text},
              {"behind", bytes.substr(splice.end, kContext)}};
}

Status set_one(const File& file, const DesiredKey& desired, Edited& edited) {
  SLIPWAY_TRY(document, file.read(edited.bytes));
  const Reach existing = reach(document->value(), desired.key);
  const bool found = existing.depth == desired.key.size();
  KeyRecord record{{"key", desired.key}, {"ours", desired.value}, {"made", existing.depth}};
  if (found) record["was"] = *existing.value;
  if (!found && existing.value->is_null()) record["fills"] = true;
  const bool same = found ? !desired.value.is_null() && *existing.value == desired.value : desired.value.is_null();
  const bool blocked = !found && !existing.value->is_object() && !existing.value->is_null();
  if (blocked && !desired.value.is_null())
    return leads_through_a_value(file, desired.key, existing.depth, *existing.value);
  const bool object = found && existing.value->is_object() && !existing.value->empty();
  if (object && !desired.value.is_null() && !desired.value.is_object())
    return leads_through_a_value(file, desired.key, existing.depth, *existing.value);
  if (!same && !(object && desired.value.is_object())) {
    const auto value = desired.value.is_null() ? std::nullopt : std::optional(desired.value);
    SLIPWAY_TRY(splice, change(file, edited.bytes, desired.key, value));
    record["edit"] = edit_record(edited.bytes, splice);
    edited.bytes = spliced(edited.bytes, {splice});
  }
  edited.records.push_back(std::move(record));
  return {};
}

/// Returns the document after a record is undone: with the former value, or none, and without objects that were made
/// for it and are empty now.
Json undone_value(const Json& document, const KeyRecord& record) {
  const Key key = record["key"];
  if (record.contains("was")) return with(document, key, record["was"]);
  Json result = without(document, key);
  const std::size_t made = record.value("made", std::size_t{0});
  for (std::size_t depth = key.size() - 1; depth >= made && depth > 0; --depth) {
    const Key above(key.begin(), key.begin() + static_cast<std::ptrdiff_t>(depth));
    const Reach existing = reach(result, above);
    if (existing.depth != depth || !existing.value->is_object() || !existing.value->empty()) break;
    if (depth > made) result = without(std::move(result), above);
    if (depth == made && record.value("fills", false)) result = with(std::move(result), above, nullptr);
  }
  return result;
}

/// A possible place of an edit's text: with both neighbours, with one of them, or by itself.
struct Place {
  std::string left;
  std::string right;

  /// A recorded neighbour that is shorter than usual reaches to the start or the end of the file. When both together
  /// are too short to identify a place, the match must be the whole file.
  bool fits(const std::string& bytes, std::size_t at, std::size_t size) const {
    const bool alone = left.empty() && right.empty();
    if (alone || left.size() + right.size() >= kLeastContext) return true;
    return at == File::mark_size(bytes.substr(0, at)) && at + size == bytes.size();
  }
};

/// Undoes the edit where its text is found again, preferring the place with the most similar surroundings. The document
/// after the change shows which of several similar places is right.
std::optional<std::string> reversed(const File& file, const std::string& bytes, const KeyRecord& record,
                                    const Json& wanted) {
  const Json& edit = record["edit"];
  const std::string before = edit.value("before", "");
  const std::string behind = edit.value("behind", "");
  const std::string made = edit.value("new", "");
  const Key key = record["key"];
  std::size_t tries = 0;
  for (const Place& place : {Place{before, behind}, Place{before, ""}, Place{"", behind}, Place{"", ""}}) {
    const std::string sought = place.left + made + place.right;
    if (sought.empty()) continue;
    for (std::size_t at = bytes.find(sought); at != std::string::npos; at = bytes.find(sought, at + 1)) {
      if (!place.fits(bytes, at, sought.size())) continue;
      if (++tries > kMostTries) return std::nullopt;
      std::string candidate = bytes;
      candidate.replace(at + place.left.size(), made.size(), edit.value("old", ""));
      const auto document = file.read(candidate);
      if (document && says((*document)->value(), wanted, key)) return candidate;
    }
  }
  return std::nullopt;
}

/// Restores the former value, in its former text if possible.
Result<std::string> set_back(const File& file, const std::string& bytes, const KeyRecord& record, const Json& wanted) {
  const Key key = record["key"];
  SLIPWAY_TRY(document, file.read(bytes));
  const auto splices = document->set(key, record["was"]);
  if (splices && splices->size() == 1) {
    Splice splice = splices->front();
    splice.text = record["edit"].value("old", "");
    splice.begin += File::mark_size(bytes);
    splice.end += File::mark_size(bytes);
    const std::string candidate = spliced(bytes, {splice});
    const auto result = file.read(candidate);
    if (result && (*result)->value() == wanted) return candidate;
  }
  SLIPWAY_TRY(splice, change(file, bytes, key, std::optional(record["was"])));
  return spliced(bytes, {splice});
}

/// Removes the outermost object that contained only our values, else the key itself.
Result<std::string> remove_key(const File& file, const std::string& bytes, const KeyRecord& record,
                               const Json& wanted) {
  Key key = record["key"];
  while (key.size() > 1) {
    const Key above(key.begin(), key.end() - 1);
    if (reach(wanted, above).depth == above.size()) break;
    key = above;
  }
  SLIPWAY_TRY(splice, change(file, bytes, key, std::nullopt));
  return spliced(bytes, {splice});
}

/// @param document  the value of the bytes, in which the record's key has our value
Result<std::string> undo_one(const File& file, const std::string& bytes, const Json& document,
                             const KeyRecord& record) {
  const Json wanted = undone_value(document, record);
  if (auto exact = reversed(file, bytes, record, wanted)) return *exact;
  return record.contains("was") ? set_back(file, bytes, record, wanted) : remove_key(file, bytes, record, wanted);
}

bool is_text_in(const Json& object, const char* name) { return object.contains(name) && object[name].is_string(); }

bool is_record(const Json& record) {
  if (!record.is_object() || !record.contains("key")) return false;
  const Json& key = record["key"];
  if (!key.is_array() || key.empty() || !std::ranges::all_of(key, [](const Json& name) { return name.is_string(); }))
    return false;
  if (record.contains("made") && (!record["made"].is_number_unsigned() || record["made"] > key.size())) return false;
  if (record.contains("fills") && !record["fills"].is_boolean()) return false;
  if (!record.contains("edit")) return true;
  const Json& edit = record["edit"];
  return edit.is_object() && is_text_in(edit, "before") && is_text_in(edit, "old") && is_text_in(edit, "new") &&
         is_text_in(edit, "behind");
}

void collect(const Json& set, Key& key, std::vector<DesiredKey>& desired_keys) {
  for (const auto& [name, value] : set.items()) {
    key.push_back(name);
    if (value.is_object() && !value.empty())
      collect(value, key, desired_keys);
    else
      desired_keys.push_back({key, value});
    key.pop_back();
  }
}

}  // namespace

std::vector<DesiredKey> desired_keys_of(const Json& set) {
  std::vector<DesiredKey> desired_keys;
  Key key;
  if (set.is_object()) collect(set, key, desired_keys);
  return desired_keys;
}

Result<Edited> set_keys(const std::string& bytes, const std::string& format,
                        const std::vector<DesiredKey>& desired_keys, const std::string& path) {
  const File file{format, path};
  SLIPWAY_CHECK(file.read(bytes));
  Edited edited{bytes, {}};
  for (const DesiredKey& desired : desired_keys) SLIPWAY_CHECK(set_one(file, desired, edited));
  return edited;
}

Result<std::string> undo_keys(const std::string& bytes, const std::string& format,
                              const std::vector<KeyRecord>& records, const std::string& path) {
  SLIPWAY_CHECK(check_records(records, "ours", path));
  const File file{format, path};
  std::string result = bytes;
  SLIPWAY_TRY(first, file.read(result));
  Json document = first->value();
  for (std::size_t left = records.size(); left > 0; --left) {
    const KeyRecord& record = records[left - 1];
    if (!record.contains("edit") || !holds(document, record["key"], record["ours"])) continue;
    SLIPWAY_TRY(next, undo_one(file, result, document, record));
    SLIPWAY_TRY(read, file.read(next));
    result = next;
    document = read->value();
  }
  return result;
}

Status check_records(const Json& records, const char* value, const std::string& path) {
  const auto whole = [&](const KeyRecord& record) { return is_record(record) && record.contains(value); };
  if (records.is_array() && records.size() <= kMostRecords && std::ranges::all_of(records, whole)) return {};
  return Error{ErrorCode::corrupt,
               "the record of slipway's keys in " + path + " is damaged",
               path,
               "remove slipway's keys from " + path +
                   " by hand; if other users may have written the state of this root, provision it again",
               {}};
}

Result<Json> read_value(const std::string& bytes, const std::string& format, const std::string& path) {
  SLIPWAY_TRY(document, File{format, path}.read(bytes));
  return document->value();
}

bool holds(const Json& document, const Key& key, const Json& value) {
  const Reach existing = reach(document, key);
  if (value.is_null()) return existing.depth != key.size();
  return existing.depth == key.size() && *existing.value == value;
}

}  // namespace slipway::merge
