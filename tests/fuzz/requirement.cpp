// SPDX-License-Identifier: Apache-2.0
// tests/fuzz/requirement.cpp - NVIDIA_REQUIRE_* of an image from any author: the first line is CUDA_VERSION, the rest
// an expression.
#include "toolkit/requests/requirement.hpp"

#include <cstdint>

#include "tests/fuzz/fuzz_check.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace slipway;
  const std::string text(reinterpret_cast<const char*>(data), size);
  const auto end = text.find('\n');
  const std::string expression = end == std::string::npos ? text : text.substr(end + 1);
  const shim::GpuFacts gpu{"the GPU /dev/nvidia0", "535.104.05", "12.2", "9.0", {"nvidia", "tesla"}};
  const auto checked = shim::check_requirement({"NVIDIA_REQUIRE_CUDA", expression}, gpu);
  fuzz::demand_presentable(checked);
  const shim::GpuFacts nothing{"the machine", {}, {}, {}, {}};
  const auto unknown = shim::check_requirement({"NVIDIA_REQUIRE_CUDA", expression}, nothing);
  fuzz::demand(checked.ok() || checked.error().code != ErrorCode::unsupported || unknown.ok(),
               "what is not known fails nothing");
  const auto more = shim::check_requirement({"NVIDIA_REQUIRE_CUDA", expression + " driver>=1"}, gpu);
  fuzz::demand(!checked.ok() || more.ok() || expression.size() + 11 > shim::kLongestRequirement ||
                   more.error().code == ErrorCode::invalid,
               "an alternative more fails nothing");
  fuzz::demand_presentable(shim::requirements_of({{"CUDA_VERSION", text.substr(0, end)}}));
  return 0;
}
