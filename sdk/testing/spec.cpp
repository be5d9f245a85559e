// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <stdexcept>

#include <slipway/testing/spec.hpp>

/// As in sdk/src/plugin/plugin_ops.cpp.
extern "C" __attribute__((weak, visibility("hidden"))) const char slipway_manifest[];  // NOLINT(*-naming): a symbol

namespace slipway::testing {

Spec spec_of(const std::string& component, const Json& given) {
  if (slipway_manifest == nullptr)
    throw std::logic_error("spec_of() knows no manifest; link the test with the plugin's NAME-manifest");
  const Json known = Json::parse(slipway_manifest);
  if (!known.contains(component)) throw std::logic_error("the manifest has no component '" + component + "'");
  const auto keys = known[component]["keys"].get<std::vector<std::string>>();
  for (const auto& [name, value] : given.items())
    if (name != "sections" && std::find(keys.begin(), keys.end(), name) == keys.end())
      throw std::logic_error("the manifest of " + component + " has no key '" + name + "'");
  Json section = known[component]["defaults"];
  section.update(given, true);
  return {section, keys};
}

}  // namespace slipway::testing
