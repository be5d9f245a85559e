// SPDX-License-Identifier: Apache-2.0
// tests/component/engine/installed.hpp - an installed slipway with the tests' plugins beside it: a boot looks nowhere
// else, whatever the environment says.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include <slipway/testing/temp_dir.hpp>

namespace slipway::testing {

/// Creates an installation with these plugins in that folder, and returns its program.
inline std::string install_into(const TempDir& folder, const std::vector<std::string>& plugin_folders) {
  namespace fs = std::filesystem;
  const fs::path bin = folder.at("usr/bin");
  const fs::path plugins = folder.at("usr/lib/slipway/plugins");
  fs::create_directories(bin);
  fs::create_directories(plugins);
  for (const char* each : {SLIPWAY_PROGRAM, SLIPWAY_WORKER_PROGRAM, SLIPWAY_ENGINE_PROGRAM})
    fs::copy_file(each, bin / fs::path(each).filename());
  for (const std::string& from : plugin_folders)
    for (const auto& each : fs::directory_iterator(from)) fs::copy_file(each.path(), plugins / each.path().filename());
  return (bin / "slipway").string();
}

/// Returns the program of an installation that lasts as long as the test program.
inline const std::string& installed_program() {
  static const TempDir folder;
  static const std::string program = install_into(folder, {SLIPWAY_TEST_PLUGINS});
  return program;
}

}  // namespace slipway::testing
