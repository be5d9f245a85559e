// SPDX-License-Identifier: Apache-2.0
// sdk/slipway/service/metrics.hpp - metrics in Prometheus' text format (version 0.0.4), for a scrape or a textfile
// collector.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace slipway {

/// Returns the size in bytes of the UTF-8 character at the start of the text (RFC 3629); 0 when it is invalid.
std::size_t utf8_character_size(std::string_view text);

/// Writes metrics one after the other, each with the samples after its `begin`.
class MetricsText {
 public:
  using Labels = std::vector<std::pair<std::string_view, std::string_view>>;

  /// @param name  letters, digits, `_` and `:`; each metric once
  /// @param help  one sentence; its line breaks and backslashes are escaped, as those of labels are
  /// @param type  "gauge", "counter", …
  void begin(std::string_view name, std::string_view help, std::string_view type = "gauge");

  /// @param value  a number; or a text that already is a number, in its own form
  template <class Number>
  void sample(const Labels& labels, Number value) {
    if constexpr (std::is_convertible_v<Number, std::string_view>)
      put(labels, std::string(value));
    else if constexpr (std::is_floating_point_v<Number>)
      put(labels, real(value));
    else
      put(labels, std::to_string(value));  // a bool is 1 or 0
  }

  /// Renders labels for many samples: `{gpu="0"}`; empty when there are none.
  static std::string rendered(const Labels& labels);
  /// @param labels  from rendered()
  void sample_rendered(std::string_view labels, std::string_view value);

  std::string take() && { return std::move(text_); }

 private:
  void put(const Labels& labels, const std::string& value) { sample_rendered(rendered(labels), value); }
  static std::string real(double value);

  std::string text_;
  std::string name_;
};

}  // namespace slipway
