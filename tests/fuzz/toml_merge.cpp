// SPDX-License-Identifier: Apache-2.0
// tests/fuzz/toml_merge.cpp - containerd's config.toml.
#include "tests/fuzz/merge_round_trip.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  slipway::fuzz::merge_round_trip(
      data, size, "toml",
      R"({"version":2,"plugins":{"io.containerd.grpc.v1.cri":{"enable_cdi":true,"containerd":{"default_runtime_name":"nvidia",)"
      R"("runtimes":{"nvidia":{"runtime_type":"io.containerd.runc.v2","options":{"BinaryName":"/b","SystemdCgroup":true}}}}}}})");
  return 0;
}
