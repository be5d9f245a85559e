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

inline Json wish_of(std::string_view line, const char* own) {
  Json wish = Json::parse(line, nullptr, false);
  return wish.is_object() ? wish : Json::parse(own);
}

/// @param format  "toml", "json" or "yaml"
/// @param own     keys that a component of slipway's sets in such files, as JSON
inline void merge_round_trip(const std::uint8_t* data, std::size_t size, const std::string& format, const char* own) {
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  const auto end = std::min(input.find('\n'), input.size());
  const std::string file(input.substr(std::min(end + 1, input.size())));
  const std::string path = "config." + format;
  const auto wishes = merge::wishes_of(wish_of(input.substr(0, end), own));
  const auto edited = merge::set_keys(file, format, wishes, path);
  demand_presentable(edited);
  if (!edited) return;
  const auto document = merge::read_value(edited->bytes, format, path);
  demand(document.ok(), "the edited file can be read");
  for (const auto& wish : wishes)
    demand(merge::holds(*document, wish.key, wish.value), "each key holds what was wished");
  const auto again = merge::set_keys(edited->bytes, format, wishes, path);
  demand(again.ok() && again->bytes == edited->bytes, "set again, nothing changes");
  const auto undone = merge::undo_keys(edited->bytes, format, edited->records, path);
  demand(undone.ok() && *undone == file, "undone, the file is as it was");
}

}  // namespace slipway::fuzz
