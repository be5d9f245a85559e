// SPDX-License-Identifier: Apache-2.0
// sdk/slipway/spec.hpp - a component's section of the host spec, checked against its schema and filled with defaults.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <slipway/json.hpp>

namespace slipway {

/// The section as the core passes it on: every key is known and of its declared type, defaults are filled in. Keys with
/// dots reach into objects ("source.repository"). Reading a missing key gives the empty value. Reading a key that the
/// manifest does not have is a defect of the plugin, and throws std::logic_error where that is known; so does reading a
/// value as another type, such as text() of a number.
class Spec {
 public:
  explicit Spec(Json section = Json::object()) : section_(std::move(section)) {}
  /// @param declared  the keys that the component's manifest has
  Spec(Json section, std::vector<std::string> declared)
      : section_(std::move(section)), declared_(std::move(declared)), knows_keys_(true) {}

  bool has(std::string_view key) const { return find(key) != nullptr; }
  std::string text(std::string_view key) const;
  bool flag(std::string_view key) const;
  std::int64_t number(std::string_view key) const;
  std::vector<std::string> texts(std::string_view key) const;
  /// Returns the keys of another component's section that the manifest lets this one read (`sections`). Nothing when
  /// the host spec lacks that component.
  std::optional<Spec> section_of(std::string_view component) const;
  /// Returns the raw value, null when the key is missing.
  Json value(std::string_view key) const;
  const Json& json() const { return section_; }

 private:
  const Json* find(std::string_view key) const;
  const Json* find_as(std::string_view key, bool (*fits)(const Json&), std::string_view type) const;
  Json section_;
  std::vector<std::string> declared_;
  bool knows_keys_ = false;
};

}  // namespace slipway
