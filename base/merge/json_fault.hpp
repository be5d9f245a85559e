// SPDX-License-Identifier: Apache-2.0
// base/merge/json_fault.hpp - finds the error in a text that is not readable JSON, for messages about
// users' files.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include <slipway/json.hpp>

namespace slipway::merge {

struct JsonFault {
  std::size_t offset_bytes = 0;  ///< of the first wrong byte
  std::string why;
};

/// Parses a text and keeps only its error.
class JsonFaultFinder final : public nlohmann::json_sax<Json> {
 public:
  bool null() override { return true; }
  bool boolean(bool) override { return true; }
  bool number_integer(number_integer_t) override { return true; }
  bool number_unsigned(number_unsigned_t) override { return true; }
  bool number_float(number_float_t, const string_t&) override { return true; }
  bool string(string_t&) override { return true; }
  bool binary(binary_t&) override { return true; }
  bool start_object(std::size_t) override { return true; }
  bool end_object() override { return true; }
  bool start_array(std::size_t) override { return true; }
  bool end_array() override { return true; }
  bool key(string_t&) override { return true; }
  bool parse_error(std::size_t position, const std::string&, const nlohmann::json::exception& error) override {
    const std::string what = error.what();  // "[json.exception.parse_error.101] parse error at line 1, …: WHY"
    const std::size_t colon = what.find(": ");
    const std::size_t number = what.find("] ");
    const std::size_t begin = colon != std::string::npos ? colon + 2 : number != std::string::npos ? number + 2 : 0;
    fault_ = JsonFault{position == 0 ? 0 : position - 1, what.substr(begin)};
    return false;
  }

  std::optional<JsonFault> found() && { return std::move(fault_); }

 private:
  std::optional<JsonFault> fault_;
};

/// Also finds texts for which Json::parse() throws errors other than parse_error: a number that fits no double, a
/// nesting that would overflow the stack (kMaxJsonDepth). Nothing when Json::parse() accepts the text.
inline std::optional<JsonFault> find_json_fault(std::string_view text) {
  if (nests_too_deep(text)) {
    std::size_t good = 0;  // the first bytes, which do not nest deeper
    for (std::size_t step = text.size(); step > 0; step /= 2)
      while (good + step <= text.size() && !nests_too_deep(text.substr(0, good + step))) good += step;
    return JsonFault{good, "it nests deeper than " + std::to_string(kMaxJsonDepth) + " levels"};
  }
  JsonFaultFinder finder;
  Json::sax_parse(text, &finder);
  return std::move(finder).found();
}

}  // namespace slipway::merge
