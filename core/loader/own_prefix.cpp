// SPDX-License-Identifier: Apache-2.0
#include "core/loader/own_prefix.hpp"

namespace slipway::core {

namespace {

/// The running program: in a portable folder the loader that was started with it, in libexec/slipway/.
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

}  // namespace slipway::core
