// SPDX-License-Identifier: Apache-2.0
// plugins/nvidia/library_folders.hpp - the folders in which a driver's libraries are searched, below its root.
#pragma once

#include <array>
#include <string>
#include <string_view>

namespace slipway::nvidia {

/// The folders that NVIDIA's own tools search below a driver root, including Debian's alternatives (nvidia/current) and
/// WSL's folder. Without /usr/lib: if it has 64-bit libraries, /usr/lib64 is a link to it; else it has 32-bit ones.
inline constexpr std::array<std::string_view, 12> kLibraryFolders{"/",
                                                                  "/usr/lib64",
                                                                  "/usr/lib/x86_64-linux-gnu",
                                                                  "/usr/lib/aarch64-linux-gnu",
                                                                  "/usr/lib/x86_64-linux-gnu/nvidia/current",
                                                                  "/usr/lib/aarch64-linux-gnu/nvidia/current",
                                                                  "/lib64",
                                                                  "/lib/x86_64-linux-gnu",
                                                                  "/lib/aarch64-linux-gnu",
                                                                  "/lib/x86_64-linux-gnu/nvidia/current",
                                                                  "/lib/aarch64-linux-gnu/nvidia/current",
                                                                  "/usr/lib/wsl/lib"};

/// The user space of the driver that slipway has installed.
inline constexpr std::string_view kStoreRoot = "/usr/lib/slipway/store/driver/current/userspace";

/// The root folder of a driver container.
inline constexpr std::string_view kContainerDriverRoot = "/run/nvidia/driver";

/// Returns "FOLDER/NAME", without a second slash.
inline std::string in_folder(std::string_view folder, std::string_view name) {
  return std::string(folder == "/" ? "" : folder) + "/" + std::string(name);
}

}  // namespace slipway::nvidia
