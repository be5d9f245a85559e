// SPDX-License-Identifier: Apache-2.0
// sdk/slipway/facts.hpp - the facts that detect() found: only the live state, never secrets, never clock times.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <slipway/json.hpp>
#include <slipway/result.hpp>

namespace slipway {

/// Named facts from one detect(). Names are dotted paths ("kernel.release"); values are JSON.
class Facts {
 public:
  Facts() = default;

  /// The component has nothing to manage on this host; `why` is shown to the user. Its plan() is then not called.
  static Facts not_applicable(std::string why);

  bool applicable() const { return applicable_; }
  const std::string& why_not() const { return why_not_; }

  void set(std::string_view name, Json value);
  /// Like set(), for a value that may change by itself between two reads (counters, pids): it is ignored in the
  /// comparison that detects an unstable plan.
  void set_volatile(std::string_view name, Json value);

  /// True when the value exists and is not null.
  bool has(std::string_view name) const { return !value(name).is_null(); }
  std::string text(std::string_view name) const;
  bool flag(std::string_view name) const;
  std::vector<std::string> texts(std::string_view name) const;
  /// Returns the value of that name, or a value inside one ("gpu.count" of "gpu": {"count": 8}); null when there is
  /// none.
  Json value(std::string_view name) const;

  const Json& values() const { return values_; }
  const std::set<std::string>& volatile_names() const { return volatile_; }

 private:
  friend Json to_json(const Facts& facts);
  friend Result<Facts> facts_from_json(const Json& value);
  bool applicable_ = true;
  std::string why_not_;
  Json values_ = Json::object();
  std::set<std::string> volatile_;
};

/// {"applicable": bool, "why": text?, "values": {…}, "volatile": [names]?}; `values` is flat: each key is a whole name.
Json to_json(const Facts& facts);
/// Errors: `plugin_defect` when the value has another form.
Result<Facts> facts_from_json(const Json& value);

}  // namespace slipway
