// SPDX-License-Identifier: Apache-2.0
// app/report/secret_search.hpp - finds all of many secrets in a text, in one pass over it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace slipway::app {

/// The position of a secret in a text.
struct SecretSpan {
  std::size_t begin = 0;
  std::size_t end = 0;
};

/// Aho and Corasick's automaton ("Efficient string matching", 1975): the time does not depend on the number of secrets.
/// Needs about 60 bytes of memory for each byte of them.
class SecretSearch {
 public:
  explicit SecretSearch(const std::set<std::string>& secrets);

  /// Returns the positions in order, none inside another; merges those that overlap.
  std::vector<SecretSpan> find(std::string_view text) const;

 private:
  struct State {
    std::uint32_t fallback = 0;  ///< the state of the longest suffix that is a prefix of a secret
    std::uint32_t longest = 0;   ///< bytes of the longest secret that ends here; 0: none
  };
  std::uint32_t next(std::uint32_t state, unsigned char byte) const;

  std::vector<State> states_{State{}};
  std::unordered_map<std::uint64_t, std::uint32_t> steps_;  ///< by state and byte
};

}  // namespace slipway::app
