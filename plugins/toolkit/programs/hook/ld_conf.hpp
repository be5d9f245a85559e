// SPDX-License-Identifier: Apache-2.0
// plugins/toolkit/programs/hook/ld_conf.hpp - the configuration of a container's dynamic linker: which folders it
// knows, and how it learns of more.
#pragma once

#include <string>
#include <vector>

#include <slipway/result.hpp>
#include <slipway/root_dir.hpp>

namespace slipway::hook {

inline constexpr const char* kConfFolder = "/etc/ld.so.conf.d";
/// Has the folder of the image's own CUDA libraries, where the hook enable-cuda-compat prefers them.
inline constexpr const char* kCompatConf = "/etc/ld.so.conf.d/00-compat-slipway.conf";

/// The folders that a linker of this distribution searches without being told, by the files that tell the distribution.
std::vector<std::string> system_folders(const RootDir& root);

/// Folders that /etc/ld.so.conf and the files it includes name. Stops reading where they go on for too long.
std::vector<std::string> configured_folders(const RootDir& root);

/// Writes what makes glibc's linker (and musl's, on Alpine) search `folders` before all others, and its own system
/// folders after them, whatever the ldconfig that reads it has built in. Folders that are configured already keep their
/// place. Repeatable. Errors: `read_only` and others of writing below /etc.
/// @return those that an ldconfig has to be told all the same, since the container's own /etc/ld.so.conf, which is left
///     as it is, does not include the files of /etc/ld.so.conf.d
Result<std::vector<std::string>> configure_linker(const RootDir& root, const std::vector<std::string>& folders);

}  // namespace slipway::hook
