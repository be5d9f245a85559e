// SPDX-License-Identifier: Apache-2.0
// plugins/toolkit/programs/hook/ld_conf.hpp - the configuration of a container's dynamic linker: its folders, and how
// more are added.
#pragma once

#include <string>
#include <vector>

#include <slipway/result.hpp>
#include <slipway/root_dir.hpp>

namespace slipway::hook {

inline constexpr const char* kConfFolder = "/etc/ld.so.conf.d";
/// Has the folder of the image's own CUDA libraries if the hook enable-cuda-compat prefers them.
inline constexpr const char* kCompatConf = "/etc/ld.so.conf.d/00-compat-slipway.conf";

/// Returns the folders that a linker of this distribution searches by default; the distribution is recognized by its
/// files.
std::vector<std::string> system_folders(const RootDir& root);

/// Returns the folders in /etc/ld.so.conf and the files that it includes. Stops at limits for very long configurations.
std::vector<std::string> configured_folders(const RootDir& root);

/// Writes a configuration with which glibc's linker (and musl's, on Alpine) searches `folders` first, and then its own
/// system folders, independent of the defaults of the ldconfig that reads it. Folders that are configured already keep
/// their place. Can be repeated. Errors: `read_only` and other errors of writing below /etc.
/// @return folders that must be passed to ldconfig, because the container's own /etc/ld.so.conf, which stays
///     as it is, does not include the files of /etc/ld.so.conf.d
Result<std::vector<std::string>> configure_linker(const RootDir& root, const std::vector<std::string>& folders);

}  // namespace slipway::hook
