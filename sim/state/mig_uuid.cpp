// SPDX-License-Identifier: Apache-2.0
#include "sim/state/mig_uuid.hpp"

#include <cstdint>
#include <cstdio>

namespace slipway::sim {
namespace {

/// FNV-1a, 64 bits.
std::uint64_t mix(std::uint64_t state, std::uint64_t value) {
  for (int i = 0; i < 8; ++i) state = (state ^ ((value >> (8 * i)) & 0xffU)) * 0x100000001b3ULL;
  return state;
}

}  // namespace

void mig_uuid(const Gpu& gpu, const GpuInstance& instance, const ComputeInstance& compute, char* text,
              std::size_t size) {
  std::uint64_t high = 0xcbf29ce484222325ULL;
  for (const char* c = gpu.uuid; *c != '\0'; ++c) high = mix(high, static_cast<unsigned char>(*c));
  high = mix(mix(high, instance.id), compute.id);
  const std::uint64_t low = mix(high, 0x4d4947);
  // Version 5 and variant 1 (RFC 4122), like the driver's.
  snprintf(text, size, "MIG-%08x-%04x-5%03x-%04x-%012llx", static_cast<unsigned>(high >> 32U),
           static_cast<unsigned>(high >> 16U) & 0xffffU, static_cast<unsigned>(high) & 0xfffU,
           0x8000U | (static_cast<unsigned>(low >> 48U) & 0x3fffU),
           static_cast<unsigned long long>(low & 0xffffffffffffULL));
}

}  // namespace slipway::sim
