// SPDX-License-Identifier: Apache-2.0
// plugins/toolkit/cdi/coherent_memory.cpp - GPUs, divided by whether their memory is coherent with the processor's
// (Grace Hopper).
#include "toolkit/cdi/generate.hpp"
#include "toolkit/cdi/nodes.hpp"
#include "toolkit/cdi/transform.hpp"

namespace slipway::toolkit {

std::vector<CoherentHalf> split_coherent(const nvidia::cdi::Spec& spec) {
  std::vector<CoherentHalf> halves;
  for (const auto& [value, suffix] : {std::pair{"true", ".coherent"}, std::pair{"false", ".noncoherent"}}) {
    nvidia::cdi::Spec half = spec;
    half.kind += suffix;
    std::erase_if(half.devices, [&, wanted = value](const nvidia::cdi::Device& device) {
      const auto annotation = device.annotations.find(kCoherentAnnotation);
      return annotation == device.annotations.end() || annotation->second != wanted;
    });
    if (half.devices.empty()) continue;
    finish(half, spec.find("all") != nullptr);
    halves.push_back({suffix, std::move(half)});
  }
  return halves;
}

}  // namespace slipway::toolkit
