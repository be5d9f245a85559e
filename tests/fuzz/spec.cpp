// SPDX-License-Identifier: Apache-2.0
// tests/fuzz/spec.cpp - a host spec, checked against the schema of a component that has keys of every type.
#include <cstdint>

#include "core/spec/document.hpp"
#include "tests/fuzz/fuzz_check.hpp"

namespace {

constexpr std::string_view kManifest = R"(
component: driver
purpose: has a key of every type
spec:
  version: {type: string, pattern: '[0-9]+([.][0-9]+){1,2}', example: "535.261.03", help: text}
  modules: {type: enum, values: [auto, open, proprietary], default: auto, help: one of a few}
  jobs: {type: integer, default: 4, help: number}
  nouveau: {type: boolean, default: true, help: yes or no}
  load: {type: list, items: {type: string}, default: [nvidia], help: list}
  parameters: {type: map, items: {type: map, items: {type: any}}, help: map}
  source: {type: artifact-source, help: packages}
  certificate: {type: path, help: path}
  signing: {type: object, keys: {key: {type: secret, help: secret}}, help: object}
  config: {type: any, help: anything}
)";

slipway::core::Plugins make_plugins() {
  slipway::core::PluginFile file;
  file.path = "/plugins/driver.so";
  file.components = slipway::core::parse_manifests(kManifest, "driver.so").value();
  slipway::core::Plugins plugins;
  plugins.component_to_path["driver"] = file.path;
  plugins.files[file.path] = file;
  return plugins;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const slipway::core::Plugins plugins = make_plugins();
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto spec = slipway::core::host_spec_from_text(text, "host.yaml", plugins);
  slipway::fuzz::demand_presentable(spec);
  if (!spec) return 0;
  // A generation keeps the document; an accepted document must be accepted again, with the same result.
  const auto again = slipway::core::host_spec_from_json(spec->document, "host.yaml", plugins);
  slipway::fuzz::demand(again.ok(), "the record of a spec is a spec");
  slipway::fuzz::demand(again->components == spec->components, "the record of a spec comes to the same");
  return 0;
}
