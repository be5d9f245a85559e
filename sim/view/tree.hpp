// SPDX-License-Identifier: Apache-2.0
// sim/view/tree.hpp - writes files below one folder and keeps the first error.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include <slipway/result.hpp>

namespace slipway::sim {

class TreeWriter {
 public:
  explicit TreeWriter(std::filesystem::path folder) : folder_(std::move(folder)) {}

  void directory(const std::filesystem::path& path);
  void file(const std::filesystem::path& path, const std::string& content);
  /// Replaces an existing link.
  void link(const std::filesystem::path& path, const std::filesystem::path& target);
  /// Creates a character device, or an empty file if this user may not create one.
  void device(const std::filesystem::path& path, unsigned major, unsigned minor);

  Status result() const { return error_ ? Status(*error_) : Status(); }

 private:
  void fail(std::string_view doing, const std::filesystem::path& path, int number);

  std::filesystem::path folder_;
  std::optional<Error> error_;
};

}  // namespace slipway::sim
