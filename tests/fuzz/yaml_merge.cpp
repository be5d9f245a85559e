// SPDX-License-Identifier: Apache-2.0
// tests/fuzz/yaml_merge.cpp - YAML of the host's, as an agent's or kubelet's configuration.
#include "tests/fuzz/merge_round_trip.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  slipway::fuzz::merge_round_trip(data, size, "yaml",
                                  R"({"featureGates":{"DevicePlugins":true},"nvidia":{"paths":["/a","b: c"],"n":3}})");
  return 0;
}
