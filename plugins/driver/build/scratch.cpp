// SPDX-License-Identifier: Apache-2.0
#include "driver/build/scratch.hpp"

#include <cerrno>
#include <cstdlib>

namespace slipway::driver {

std::string Scratch::parent(const std::string& wanted) {
  if (!wanted.empty()) return wanted;
  const char* set = std::getenv("TMPDIR");
  return set != nullptr && *set != '\0' ? set : "/var/tmp";
}

Result<Scratch> Scratch::make(const std::string& wanted) {
  const std::string folder = parent(wanted);
  std::string name = folder + "/slipway-driver-XXXXXX";
  if (mkdtemp(name.data()) == nullptr) return system_error("make a temporary folder in", folder, errno);
  return Scratch{name};
}

Scratch::~Scratch() {
  std::error_code ignored;
  if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
}

}  // namespace slipway::driver
