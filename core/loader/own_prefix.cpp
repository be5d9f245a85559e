// SPDX-License-Identifier: Apache-2.0
#include "core/loader/own_prefix.hpp"

namespace slipway::core {

std::filesystem::path own_prefix() {
  std::error_code problem;
  const std::filesystem::path folder = std::filesystem::read_symlink("/proc/self/exe", problem).parent_path();
  const bool in_libexec = folder.filename() == "slipway" && folder.parent_path().filename() == "libexec";
  return in_libexec ? folder.parent_path().parent_path() : folder.parent_path();
}

}  // namespace slipway::core
