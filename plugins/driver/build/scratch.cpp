// SPDX-License-Identifier: Apache-2.0
#include "driver/build/scratch.hpp"

#include <cerrno>
#include <cstdlib>

namespace slipway::driver {

Result<Scratch> Scratch::make(const std::string& parent) {
  std::string folder = parent;
  if (const char* set = std::getenv("TMPDIR"); folder.empty() && set != nullptr) folder = set;
  if (folder.empty()) folder = "/var/tmp";
  std::string name = folder + "/slipway-driver-XXXXXX";
  if (mkdtemp(name.data()) == nullptr) return system_error("make a temporary folder in", folder, errno);
  return Scratch{name};
}

Scratch::~Scratch() {
  std::error_code ignored;
  if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
}

}  // namespace slipway::driver
