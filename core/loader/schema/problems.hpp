// SPDX-License-Identifier: Apache-2.0
// core/loader/schema/problems.hpp - collects all problems of one document, so that a user sees them at once.
#pragma once

#include <string>
#include <vector>

#include <slipway/error.hpp>

#include "base/yaml/tree.hpp"

namespace slipway::core {

class Problems {
 public:
  /// The number of problems shown; the rest are only counted.
  static constexpr std::size_t kShown = 10;

  explicit Problems(std::string file) : file_(std::move(file)) {}

  /// @param key  the dotted key with the problem, shown beside the position; may be empty
  void add(base::Position position, const std::string& key, std::string what, std::string next = {});

  bool none() const { return errors_.empty(); }
  const std::string& file() const { return file_; }
  /// Returns the first problem by position, with the others as its details "also". Requires at least one problem.
  Error to_error() const;

 private:
  struct Entry {
    base::Position position;
    Error error;
  };
  std::string file_;
  std::vector<Entry> errors_;
};

}  // namespace slipway::core
