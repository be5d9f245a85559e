// SPDX-License-Identifier: Apache-2.0
// plugins/toolkit/programs/hook/hook.hpp - the hooks that a CDI spec may name, each a function on a container that is
// about to start.
//
// All are `createContainer` hooks (OCI runtime-spec 1.1): programs of the host, run in the mount namespace of the new
// container before its root is pivoted to. Names, options and effects are those of NVIDIA's nvidia-cdi-hook 1.20, so
// that either program can run the hooks in the other's specs. The container's root is hostile: paths in it are only
// followed from its own root (RootDir), and nothing is read from the environment.
#pragma once

#include <string>
#include <vector>

#include <sys/types.h>

#include <slipway/result.hpp>
#include <slipway/root_dir.hpp>

#include "arguments.hpp"

namespace slipway::hook {

struct Container {
  RootDir root;  ///< its root filesystem
};

/// Reads the state that the runtime writes to a hook's standard input (OCI runtime-spec 1.1, "State"): `root` if
/// present (crun), else `root.path` of the bundle's config.json, relative to the bundle.
/// @param file  the state's file; "" or "-": standard input
/// Errors: `invalid` not such a state; `denied` when the root is this system's own.
Result<Container> read_container(const std::string& file);

using Run = Status (*)(const Arguments& arguments, const Container& container);

struct Hook {
  const char* name;
  std::vector<std::string> options;  ///< its options, without dashes
  Run run;
};

/// --link TARGET::LINK …: creates each symbolic link, replacing a file or link of that name.
Status create_symlinks(const Arguments& arguments, const Container& container);
/// --folder DIR …, --ldconfig-path FILE: makes the container's dynamic linker find the folders' libraries.
Status update_ldcache(const Arguments& arguments, const Container& container);
/// --host-driver-version V, --host-cuda-version V, --cuda-compat-container-root DIR: prefers the image's own CUDA
/// compatibility libraries if they are newer than the driver and built for it.
Status enable_cuda_compat(const Arguments& arguments, const Container& container);
/// Configures the driver's libraries in the container not to create or change device nodes.
Status disable_device_node_modification(const Arguments& arguments, const Container& container);
/// Configures EGL in the container to use the GPUs whose nodes exist there.
Status update_application_profile(const Arguments& arguments, const Container& container);
/// --mode OCTAL --path PATH …: sets the mode of existing paths.
Status change_mode(const Arguments& arguments, const Container& container);

// Functions that the hooks share.

/// True when a path of the container is on another mount than its root: a volume, to which a link of the image may lead
/// too. Files there belong to the host or to another container, so hooks do not change them, and write a line to
/// standard error. /dev, which engines mount, belongs to the container.
bool is_in_volume(const RootDir& root, const std::string& path);
/// The same for an open file. Another container may replace links in a shared volume, so that the path leads elsewhere
/// a moment later: code that changes a file checks the descriptor that it uses.
bool is_in_volume(const RootDir& root, int opened, const std::string& path);
/// Creates the folder and its missing parents, but none for which is_in_volume() is true.
Status make_own_folders(const RootDir& root, const std::string& folder);
/// Writes a file under a new name and renames it to `path`: a reader sees the old or the new one, and a link or FIFO of
/// that name is replaced, not followed. A path for which is_in_volume() is true is not changed.
Status write_file(const RootDir& root, const std::string& path, const std::string& content, mode_t mode);
/// Returns "/proc/self/fd/N": the only name of an open file for calls that take a path.
std::string path_of(int fd);

}  // namespace slipway::hook
