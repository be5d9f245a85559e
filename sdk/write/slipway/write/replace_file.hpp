// SPDX-License-Identifier: Apache-2.0
// sdk/write/slipway/write/replace_file.hpp - a file with another content, in one step that also survives a power cut.
#pragma once

#include <string>
#include <string_view>

#include <slipway/result.hpp>
#include <slipway/root_dir.hpp>

namespace slipway {

/// Gives the file behind `path`, all links followed, a new content: readers see the former or the new one, whole.
/// Owner, mode and extended attributes stay; a file that was not there is made, 0644 and ours, with its folders (0755).
/// On the disk when this returns.
/// Errors: `conflict` what is there is no regular file, or something is mounted on it; else those of writing.
Status replace_file(const RootDir& root, const std::string& path, std::string_view content);

}  // namespace slipway
