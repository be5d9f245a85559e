// SPDX-License-Identifier: Apache-2.0
// tests/fuzz/merge_round_trip.hpp - keys set in somebody's file and taken back: the file is as it was, byte for byte.
//
// Input: a line of JSON (the keys; where it is none, the target's own), then the file.
#pragma once

#include <cstdint>
#include <string>

#include <slipway/merge/edit.hpp>

#include "tests/fuzz/fuzz_check.hpp"

namespace slipway::fuzz {

inline Json desired_file(std::string_view line, const char* own) {
  Json desired = Json::parse(line, nullptr, false);
  return desired.is_object() ? desired : Json::parse(own);
}

/// @param format  "toml", "json" or "yaml"
/// @param own     keys that a component of slipway's sets in such files, as JSON
inline void merge_round_trip(const std::uint8_t* data, std::size_t size, const std::string& format, const char* own) {
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  const auto end = std::min(input.find('\n'), input.size());
  const std::string file(input.substr(std::min(end + 1, input.size())));
  const std::string path = "config." + format;
  const auto desired_keys = merge::desired_keys_of(desired_file(input.substr(0, end), own));
  const auto edited = merge::set_keys(file, format, desired_keys, path);
  demand_presentable(edited);
  if (!edited) return;
  const auto document = merge::read_value(edited->bytes, format, path);
  demand(document.ok(), "the edited file can be read");
  for (const auto& desired : desired_keys)
    demand(merge::holds(*document, desired.key, desired.value), "each key holds what was asked for");
  const auto again = merge::set_keys(edited->bytes, format, desired_keys, path);
  demand(again.ok() && again->bytes == edited->bytes, "set again, nothing changes");
  const auto undone = merge::undo_keys(edited->bytes, format, edited->records, path);
  demand(undone.ok() && *undone == file, "undone, the file is as it was");
}

}  // namespace slipway::fuzz
