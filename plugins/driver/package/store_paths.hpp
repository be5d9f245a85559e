// SPDX-License-Identifier: Apache-2.0
// plugins/driver/package/store_paths.hpp - where the driver's files are once they are unpacked.
#pragma once

#include <string>
#include <string_view>

namespace slipway::driver {

inline constexpr std::string_view kStoreName = "driver";
inline constexpr std::string_view kStore = "/usr/lib/slipway/store/driver";
inline constexpr std::string_view kCurrent = "/usr/lib/slipway/store/driver/current";

/// Below kCurrent; in each layer's folder is what the package has in that layer.
inline const std::string kUserspaceFolder = std::string{kCurrent} + "/userspace";
inline const std::string kFirmwareFolder = std::string{kCurrent} + "/firmware";
/// Holds kernel/NAME.ko and Module.symvers.
inline std::string modules_folder(std::string_view release) {
  return std::string{kCurrent} + "/modules/" + std::string{release};
}

/// A resolved path that belongs to slipway's store.
inline bool is_ours(std::string_view path) { return path.starts_with("/usr/lib/slipway/"); }

}  // namespace slipway::driver
