// SPDX-License-Identifier: Apache-2.0
#include "plugins.hpp"

#include <fstream>
#include <iterator>
#include <stdexcept>

namespace slipway::core {

Plugins plugins_of(const std::string& manifest_yaml) {
  auto manifests = parse_manifests(manifest_yaml, "manifest.yaml");
  if (!manifests) throw std::runtime_error(to_text(manifests.error()));
  Plugins plugins;
  PluginFile& file = plugins.files["/p/test.so"];
  file.path = "/p/test.so";
  file.components = std::move(*manifests);
  for (const Manifest& manifest : file.components) plugins.component_to_path[manifest.component] = file.path;
  return plugins;
}

const Plugins& test_plugins() {
  static const Plugins plugins = plugins_of(test_file("manifest.yaml"));
  return plugins;
}

std::string test_file(const std::string& name) {
  std::ifstream file(TEST_SPECS "/" + name, std::ios::binary);
  if (!file) throw std::runtime_error("no file " + name);
  return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace slipway::core
