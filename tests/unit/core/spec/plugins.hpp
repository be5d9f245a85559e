// SPDX-License-Identifier: Apache-2.0
// tests/unit/core/spec/plugins.hpp - plugins from manifests, as if they had been discovered.
#pragma once

#include <string>

#include "core/loader/plugin_file.hpp"

namespace slipway::core {

/// Returns one plugin, /p/test.so, with the components of a manifest. Throws when the manifest is wrong.
Plugins plugins_of(const std::string& manifest_yaml);
/// Returns the plugins of manifest.yaml.
const Plugins& test_plugins();
/// Returns all bytes of a file of this folder.
std::string test_file(const std::string& name);

}  // namespace slipway::core
