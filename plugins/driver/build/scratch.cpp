// SPDX-License-Identifier: Apache-2.0
#include "driver/build/scratch.hpp"

#include <cstdlib>
#include <filesystem>

namespace slipway::driver {

std::string Scratch::parent(const std::string& wanted) {
  if (!wanted.empty()) return wanted;
  const char* set = std::getenv("TMPDIR");
  return set != nullptr && *set != '\0' ? std::filesystem::absolute(set).string() : "/var/tmp";
}

Result<Scratch> Scratch::make(const std::string& wanted) {
  SLIPWAY_TRY(folder, base::ScratchFolder::make(parent(wanted), "slipway-driver"));
  return Scratch(std::move(folder));
}

}  // namespace slipway::driver
