// SPDX-License-Identifier: Apache-2.0
// tests/fuzz/manifest.cpp - a plugin's manifest: YAML and schemas from a third party's file.
#include "core/loader/manifest.hpp"

#include <cstdint>

#include "tests/fuzz/fuzz_check.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto manifests = slipway::core::parse_manifests(text, "plugin.so");
  slipway::fuzz::demand_presentable(manifests);
  if (!manifests) return 0;
  for (const auto& manifest : *manifests) {
    slipway::fuzz::demand(!manifest.component.empty(), "a manifest that is taken names its component");
    slipway::fuzz::demand(manifest.spec.type == slipway::core::SchemaKey::Type::object, "a spec is an object");
  }
  return 0;
}
