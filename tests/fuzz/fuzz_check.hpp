// SPDX-License-Identifier: Apache-2.0
// tests/fuzz/fuzz_check.hpp - the checks of a fuzz target; a failed check ends the program.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <string_view>

#include <slipway/result.hpp>

namespace slipway::fuzz {

inline void demand(bool holds, std::string_view what) {
  if (holds) return;
  std::fprintf(stderr, "demand failed: %.*s\n", static_cast<int>(what.size()), what.data());
  std::abort();
}

/// Demands that an error for users has a text, which can be printed and sent.
inline void demand_presentable(const Error& error) {
  demand(!error.what.empty(), "an error says what happened");
  demand(!to_text(error).empty() && !canonical(to_json(error)).empty(), "an error has a text and a JSON form");
}

template <class T>
void demand_presentable(const Result<T>& result) {
  if (!result) demand_presentable(result.error());
}

}  // namespace slipway::fuzz
