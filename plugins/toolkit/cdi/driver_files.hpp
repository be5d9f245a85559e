// SPDX-License-Identifier: Apache-2.0
// plugins/toolkit/cdi/driver_files.hpp - the driver's files in every GPU container: libraries with their links,
// programs, firmware, sockets, and the files of graphics.
#pragma once

#include <string>
#include <vector>

#include <slipway/result.hpp>

#include "nvidia/cdi/spec.hpp"
#include "toolkit/cdi/hooks.hpp"
#include "toolkit/cdi/inventory.hpp"
#include "toolkit/cdi/libraries.hpp"

namespace slipway::toolkit {

struct FileOptions {
  bool hooks = true;                         ///< false: files are mounted under their links' names
  bool explicit_libraries = false;           ///< include OpenGL, EGL and OpenCL
  std::string library_folder;                ///< library folder of containers, without hooks; empty: as on the host
  std::vector<std::string> config_folders;   ///< for files of graphics; empty: the usual ones
  std::vector<std::string> program_folders;  ///< searched after the usual folders
};

/// Adds mounts and hooks to edits, for one driver version.
class DriverFiles {
 public:
  DriverFiles(const Roots& roots, std::string driver_version, LibrarySearch& search, const HookWriter& hooks,
              FileOptions options)
      : roots_(roots),
        version_(std::move(driver_version)),
        search_(search),
        hooks_(hooks),
        options_(std::move(options)) {}

  /// Errors: as find_driver_libraries().
  Status add_libraries(bool device_node_modification, nvidia::cdi::Edits& edits) const;
  /// @return notes: files that containers do not get, and why
  std::vector<std::string> add_programs(bool graphics, nvidia::cdi::Edits& edits) const;
  void add_firmware(nvidia::cdi::Edits& edits) const;
  void add_sockets(nvidia::cdi::Edits& edits) const;
  void add_graphics(nvidia::cdi::Edits& edits) const;

 private:
  /// Returns the folder for a library; without hooks only folders that every linker searches can be used.
  std::string container_of(const std::string& real) const;
  void mount(const std::string& real, const std::string& container, nvidia::cdi::Edits& edits) const;
  void add_config_file(const std::string& name, const std::string& container_folder,
                       const std::vector<std::string>& folders, nvidia::cdi::Edits& edits) const;
  void add_xorg(const std::vector<std::string>& folders, std::vector<std::string>& links,
                nvidia::cdi::Edits& edits) const;
  std::vector<std::string> links_of(const Found& library) const;
  /// Creates links by a hook, or without hooks mounts the library under each name.
  void give_names(const Found& library, const std::vector<std::string>& links, std::vector<std::string>& all_links,
                  nvidia::cdi::Edits& edits) const;

  const Roots& roots_;
  std::string version_;
  LibrarySearch& search_;
  const HookWriter& hooks_;
  FileOptions options_;
};

/// Returns the mount of a file: read-only, private.
nvidia::cdi::Mount file_mount(const std::string& host, const std::string& container);

}  // namespace slipway::toolkit
