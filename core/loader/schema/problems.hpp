// SPDX-License-Identifier: Apache-2.0
// core/loader/schema/problems.hpp - collects what is wrong with one document, so that a person sees it all at once.
#pragma once

#include <string>
#include <vector>

#include <slipway/error.hpp>

#include "base/yaml/tree.hpp"

namespace slipway::core {

class Problems {
 public:
  /// At most so many are shown; of the rest only the number.
  static constexpr std::size_t kShown = 10;

  explicit Problems(std::string file) : file_(std::move(file)) {}

  /// @param key  the dotted key that it is about, shown beside the position; may be empty
  void add(Position position, const std::string& key, std::string what, std::string next = {});

  bool none() const { return errors_.empty(); }
  const std::string& file() const { return file_; }
  /// The first by position, the others as its details "also". Only when there are any.
  Error to_error() const;

 private:
  struct Entry {
    Position position;
    Error error;
  };
  std::string file_;
  std::vector<Entry> errors_;
};

}  // namespace slipway::core
