// SPDX-License-Identifier: Apache-2.0
// app/install/install.hpp - puts slipway itself into a root, in a folder of its own with links in /usr/bin.
//
// /usr/lib/slipway/installed/VERSION-HASH/ has bin, libexec/slipway, lib/slipway/plugins, lib/slipway/libraries and
// share/slipway, and slipway-apply.service where the root has systemd. The link /usr/lib/slipway/installed/current, the
// one thing that a switch changes, leads to the folder in use; /usr/bin/slipway and its like lead into current/bin, the
// unit in /usr/lib/systemd/system likewise.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include <slipway/result.hpp>
#include <slipway/root_dir.hpp>

#include "core/loader/plugin_file.hpp"

namespace slipway::core {

/// Name of a file to its content. The content is handed to libelf, which wants it writable and leaves it as it is.
using FileContents = std::map<std::string, std::string>;

/// Libraries of this machine that these programs and libraries need, one through another, and that the root does not
/// have, or has without the versions of symbols that are needed. The C library is never among them.
/// @param own  a folder of this machine to look in first
/// Errors: `unsupported` the root has no C library, one for another processor, or one that is too old; `not_found` this
/// machine itself lacks a library.
Result<FileContents> missing_libraries(const RootDir& root, FileContents& programs, const std::string& own);

/// What is installed, by path inside the folder.
struct InstalledFiles {
  FileContents programs;               ///< stripped, mode 0755
  FileContents data;                   ///< mode 0644
  std::vector<std::string> libraries;  ///< names of those that the root lacks; they are among the data
  std::uint64_t bytes = 0;
};

/// Reads and strips slipway's programs and the plugins, and finds the libraries that the root lacks.
/// @param components  of which the plugins are taken; empty: all
/// Errors: those of missing_libraries(); `not_found` a part of slipway or strip(1).
Result<InstalledFiles> files_to_install(const RootDir& root, const Plugins& plugins,
                                        const std::vector<std::string>& components);

struct Installation {
  std::string folder;    ///< as the root sees it
  bool changed = false;  ///< it was not there as it is now, or links to it were not
};

/// Writes a new folder and switches to it by renames; a folder of before goes. What is there already stays as it is.
/// @param dry_run  only says what would be
/// Errors: `conflict` a file in /usr/bin is a package's or somebody else's; those of RootFs.
Result<Installation> install(const RootDir& root, InstalledFiles& files, bool dry_run);

}  // namespace slipway::core
