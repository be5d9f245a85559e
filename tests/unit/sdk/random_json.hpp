// SPDX-License-Identifier: Apache-2.0
// tests/unit/sdk/random_json.hpp - random values for properties that must hold for all of them.
#pragma once

#include <random>
#include <string>

#include <slipway/json.hpp>

namespace slipway {

class RandomJson {
 public:
  explicit RandomJson(unsigned seed) : random_(seed) {}

  unsigned below(unsigned limit) { return std::uniform_int_distribution<unsigned>(0, limit - 1)(random_); }

  /// Any bytes but NUL, including invalid UTF-8, quotes, escapes and dots.
  std::string text() {
    std::string text(below(12), 'x');
    for (char& c : text) c = static_cast<char>(below(4) == 0 ? 1 + below(255) : 'a' + below(26));
    return text;
  }
  /// Like text(), but it goes through JSON unchanged.
  std::string clean_text() {
    static const std::vector<std::string> pieces{"a", "Zürich", "\"",           "\\", "\n",
                                                 ".", "/",      "0000:65:00.0", "{",  "日本"};
    std::string text;
    for (unsigned i = below(5); i > 0; --i) text += pieces[below(static_cast<unsigned>(pieces.size()))];
    return text;
  }
  Json value(unsigned depth = 3) {
    switch (below(depth == 0 ? 5 : 7)) {
      case 0:
        return nullptr;
      case 1:
        return below(2) == 0;
      case 2:
        return static_cast<std::int64_t>(random_()) - (std::int64_t{1} << 31);
      case 3:
        return 0.5 * static_cast<double>(below(1000));
      case 4:
        return clean_text();
      case 5: {
        Json list = Json::array();
        for (unsigned i = below(4); i > 0; --i) list.push_back(value(depth - 1));
        return list;
      }
      default:
        return object(depth - 1);
    }
  }
  Json object(unsigned depth = 2) {
    Json members = Json::object();
    for (unsigned i = below(5); i > 0; --i) members[clean_text()] = value(depth);
    return members;
  }

 private:
  std::mt19937 random_;
};

}  // namespace slipway
