// SPDX-License-Identifier: Apache-2.0
#include "app/report/secret_search.hpp"

#include <algorithm>

namespace slipway::app {
namespace {

constexpr unsigned kBitsOfByte = 8;

std::uint64_t step_of(std::uint32_t state, unsigned char byte) { return std::uint64_t{state} << kBitsOfByte | byte; }

}  // namespace

SecretSearch::SecretSearch(const std::set<std::string>& secrets) {
  std::vector<std::vector<std::pair<std::uint32_t, unsigned char>>> by_depth;  // the states that lead to each state
  std::vector<std::uint32_t> depth_first;
  for (const std::string& secret : secrets) {
    std::uint32_t state = 0;
    for (std::size_t depth = 0; depth < secret.size(); ++depth) {
      const auto byte = static_cast<unsigned char>(secret[depth]);
      const auto [step, is_new] = steps_.try_emplace(step_of(state, byte), static_cast<std::uint32_t>(states_.size()));
      if (is_new) {
        states_.emplace_back();
        if (by_depth.size() == depth) by_depth.emplace_back();
        by_depth[depth].emplace_back(state, byte);
      }
      state = step->second;
    }
    states_[state].longest = static_cast<std::uint32_t>(secret.size());
  }
  for (const auto& level : by_depth) {
    for (const auto& [from, byte] : level) {
      const std::uint32_t state = steps_.at(step_of(from, byte));
      states_[state].fallback = from == 0 ? 0 : next(states_[from].fallback, byte);
      states_[state].longest = std::max(states_[state].longest, states_[states_[state].fallback].longest);
    }
  }
}

std::uint32_t SecretSearch::next(std::uint32_t state, unsigned char byte) const {
  for (;; state = states_[state].fallback) {
    if (const auto step = steps_.find(step_of(state, byte)); step != steps_.end()) return step->second;
    if (state == 0) return 0;
  }
}

std::vector<SecretSpan> SecretSearch::find(std::string_view text) const {
  std::vector<SecretSpan> spans;
  std::uint32_t state = 0;
  for (std::size_t at = 0; at < text.size(); ++at) {
    state = next(state, static_cast<unsigned char>(text[at]));
    if (states_[state].longest == 0) continue;
    SecretSpan span{at + 1 - states_[state].longest, at + 1};
    while (!spans.empty() && spans.back().end > span.begin) {
      span.begin = std::min(span.begin, spans.back().begin);
      spans.pop_back();
    }
    spans.push_back(span);
  }
  return spans;
}

}  // namespace slipway::app
