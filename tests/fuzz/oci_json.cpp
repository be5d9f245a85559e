// SPDX-License-Identifier: Apache-2.0
// tests/fuzz/oci_json.cpp - the JSON that a registry or layout sends: index, manifest, layout file, a source.
#include <cstdint>

#include "artifact/oci/artifact.hpp"
#include "artifact/oci/layout.hpp"
#include "artifact/oci/manifest.hpp"
#include "tests/fuzz/fuzz_check.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace slipway;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  fuzz::demand_presentable(artifact::parse_layout_index(text, "layout"));
  if (const auto status = artifact::check_layout_file(text, "layout"); !status)
    fuzz::demand_presentable(status.error());
  const auto manifest = artifact::parse_manifest(text, {});
  fuzz::demand_presentable(manifest);
  if (manifest) fuzz::demand(manifest->annotations.is_object(), "annotations are an object");
  const Json value = Json::parse(text, nullptr, false);
  if (!value.is_discarded()) fuzz::demand_presentable(artifact::source_from_json(value));
  return 0;
}
