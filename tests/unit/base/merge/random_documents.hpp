// SPDX-License-Identifier: Apache-2.0
// tests/unit/base/merge/random_documents.hpp - configuration files like those of people and tools, made at random.
#pragma once

#include <random>
#include <string>

#include <slipway/json.hpp>

#include "base/merge/document.hpp"

namespace slipway::merge {

class RandomDocuments {
 public:
  explicit RandomDocuments(unsigned seed) : random_(seed) {}

  /// Returns a text in the format: with comments, odd spacing, and all notations.
  std::string text(const std::string& format);
  /// Returns a key of the document, a new one, or one below a missing key.
  Key key(const Json& document);
  Json value(bool with_lists = true);
  bool chance(int percent) { return static_cast<int>(random_() % 100) < percent; }
  std::size_t below(std::size_t limit) { return random_() % limit; }

 private:
  std::string json_text();
  std::string json_value(int depth, const std::string& indent, const std::string& unit);
  std::string toml_text();
  std::string toml_value(int depth);
  std::string toml_entries(const std::string& indent, int prefix);
  std::string yaml_text();
  std::string yaml_map(int depth, std::size_t indent);
  std::string yaml_value(int depth, std::size_t indent);
  std::string name();
  std::string fresh(std::string& used);
  std::string comment();
  std::string word();

  std::mt19937 random_;
};

}  // namespace slipway::merge
