// SPDX-License-Identifier: Apache-2.0
// app/install/install.hpp - installs slipway itself into a root, in its own folder with links in /usr/bin.
//
// /usr/lib/slipway/installed/VERSION-HASH/ has bin, libexec/slipway, lib/slipway/plugins, lib/slipway/libraries and
// share/slipway, and slipway-apply.service where the root has systemd. The link /usr/lib/slipway/installed/current, the
// only thing that a switch changes, refers to the active folder; /usr/bin/slipway and similar links refer to
// current/bin; so does the unit in /usr/lib/systemd/system.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include <slipway/result.hpp>
#include <slipway/root_dir.hpp>

#include "core/loader/plugin_file.hpp"

namespace slipway::app {

/// File name to content. The content is passed to libelf, which requires it writable and does not change it.
using FileContents = std::map<std::string, std::string>;

/// Returns the libraries of this machine that these programs and libraries need, directly or indirectly, and that the
/// root lacks, or has without the required symbol versions. The C library is never among them.
/// @param own  a folder of this machine to look in first
/// Errors: `unsupported` the root has no C library, one for another processor, or one that is too old; `not_found` this
/// machine itself lacks a library.
Result<FileContents> missing_libraries(const RootDir& root, FileContents& programs, const std::string& own);

/// The files to install, by path inside the folder.
struct InstalledFiles {
  FileContents programs;               ///< stripped, mode 0755
  FileContents data;                   ///< mode 0644
  std::vector<std::string> libraries;  ///< names of the libraries that the root lacks; they are in `data`
  std::uint64_t bytes = 0;
};

/// Reads and strips slipway's programs and the plugins, and finds the libraries that the root lacks.
/// @param components  whose plugins are installed; empty: all
/// Errors: those of missing_libraries(); `not_found` a part of slipway or strip(1).
Result<InstalledFiles> files_to_install(const RootDir& root, const core::Plugins& plugins,
                                        const std::vector<std::string>& components);

struct Installation {
  std::string folder;    ///< path as seen in the root
  bool changed = false;  ///< the folder or the links to it were not up to date
};

/// Writes a new folder and switches to it by renames; removes the former folder. Does not change what is up to date.
/// @param dry_run  only reports what would change
/// Errors: `conflict` a file in /usr/bin belongs to a package or to the user; those of RootFs.
Result<Installation> install(const RootDir& root, InstalledFiles& files, bool dry_run);

}  // namespace slipway::app
