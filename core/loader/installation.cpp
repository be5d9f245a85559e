// SPDX-License-Identifier: Apache-2.0
#include "core/loader/installation.hpp"

#include <cstdlib>
#include <filesystem>

#include <unistd.h>

#include <slipway/text.hpp>

namespace slipway::core {

namespace {

/// Returns the running program: in a portable folder the loader that was started with it, in libexec/slipway/.
std::filesystem::path running() {
  std::error_code problem;
  return std::filesystem::read_symlink("/proc/self/exe", problem);
}

}  // namespace

std::filesystem::path own_prefix() {
  const std::filesystem::path folder = running().parent_path();
  const bool in_libexec = folder.filename() == "slipway" && folder.parent_path().filename() == "libexec";
  return in_libexec ? folder.parent_path().parent_path() : folder.parent_path();
}

bool is_portable() { return running().filename().string().starts_with("ld-"); }

namespace {

namespace fs = std::filesystem;

constexpr const char* kVariable = "SLIPWAY_PLUGIN_PATH";

/// Returns ../lib/slipway/plugins beside the running program, so that an unpacked archive or a build tree works as it
/// is.
std::string folder_beside_program() {
  std::error_code problem;
  const fs::path folder = own_prefix() / "lib" / "slipway" / "plugins";
  return fs::is_directory(folder, problem) ? folder.string() : std::string{};
}

}  // namespace

std::vector<std::string> plugin_folders(bool trust_environment) {
  const char* variable = trust_environment || ::geteuid() != 0 ? ::secure_getenv(kVariable) : nullptr;
  std::vector<std::string> named = split(variable != nullptr ? variable : "", ':');
  std::erase(named, "");
  if (!named.empty()) return named;
  return {installed_plugin_folder()};
}

std::string installed_plugin_folder() {
  const std::string beside = folder_beside_program();
  return beside.empty() ? SLIPWAY_PLUGIN_DIR : beside;
}

}  // namespace slipway::core
