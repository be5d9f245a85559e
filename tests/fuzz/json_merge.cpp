// SPDX-License-Identifier: Apache-2.0
// tests/fuzz/json_merge.cpp - Docker's daemon.json.
#include "tests/fuzz/merge_round_trip.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  slipway::fuzz::merge_round_trip(
      data, size, "json",
      R"({"features":{"cdi":true},"default-runtime":"nvidia","runtimes":{"nvidia":{"path":"/b","runtimeArgs":[]}}})");
  return 0;
}
