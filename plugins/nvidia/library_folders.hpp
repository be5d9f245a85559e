// SPDX-License-Identifier: Apache-2.0
// plugins/nvidia/library_folders.hpp - the folders in which a driver's libraries are looked for, below its root.
#pragma once

#include <array>
#include <string>
#include <string_view>

namespace slipway::nvidia {

/// As NVIDIA's own tools look below a driver root, Debian's alternatives (nvidia/current) and WSL's folder included.
/// Not /usr/lib: where libraries of 64 bits are there, /usr/lib64 leads to it, and elsewhere it has those of 32 bits.
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

/// The user space of the driver that slipway installed.
inline constexpr std::string_view kStoreRoot = "/usr/lib/slipway/store/driver/current/userspace";

/// Where a driver container puts its root.
inline constexpr std::string_view kContainerDriverRoot = "/run/nvidia/driver";

/// "FOLDER/NAME", without a second slash.
inline std::string in_folder(std::string_view folder, std::string_view name) {
  return std::string(folder == "/" ? "" : folder) + "/" + std::string(name);
}

}  // namespace slipway::nvidia
