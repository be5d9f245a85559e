// SPDX-License-Identifier: Apache-2.0
// app/report/secret_search.hpp - finds where any of many secrets stands in a text, in one pass over it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace slipway::core {

/// Where a secret stands in a text.
struct SecretSpan {
  std::size_t begin = 0;
  std::size_t end = 0;
};

/// Aho and Corasick's automaton ("Efficient string matching", 1975): the time does not depend on how many secrets there
/// are. Some 60 bytes of memory for each byte of them.
class SecretSearch {
 public:
  explicit SecretSearch(const std::set<std::string>& secrets);

  /// In order, none inside another; those that overlap are one.
  std::vector<SecretSpan> find(std::string_view text) const;

 private:
  struct State {
    std::uint32_t fallback = 0;  ///< the state of the longest end that also begins a secret
    std::uint32_t longest = 0;   ///< bytes of the longest secret that ends here; 0: none does
  };
  std::uint32_t next(std::uint32_t state, unsigned char byte) const;

  std::vector<State> states_{State{}};
  std::unordered_map<std::uint64_t, std::uint32_t> steps_;  ///< by state and byte
};

}  // namespace slipway::core
