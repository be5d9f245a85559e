// SPDX-License-Identifier: Apache-2.0
// plugins/toolkit/programs/hook/hook.hpp - the hooks that a CDI spec may name, each a function on a container that is
// about to start.
//
// All are `createContainer` hooks (OCI runtime-spec 1.1): programs of the host, run in the mount namespace of the new
// container before its root is pivoted to. Names, options and effects are those of NVIDIA's nvidia-cdi-hook 1.20, so
// that either program can run what the other's spec asks for. The container's root is hostile: no path in it is
// followed but from its own root (RootDir), and nothing is read from the environment.
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

/// Reads the state that the runtime writes to a hook's standard input (OCI runtime-spec 1.1, "State"): `root` where it
/// is there (crun), else `root.path` of the bundle's config.json, relative to the bundle.
/// @param file  the state's file; "" or "-": standard input
/// Errors: `invalid` no such state; `denied` when the root is this system's own.
Result<Container> read_container(const std::string& file);

using Run = Status (*)(const Arguments& arguments, const Container& container);

struct Hook {
  const char* name;
  std::vector<std::string> options;  ///< those that it takes, without dashes
  Run run;
};

/// --link TARGET::LINK …: makes each symbolic link, replacing a file or link of that name.
Status create_symlinks(const Arguments& arguments, const Container& container);
/// --folder DIR …, --ldconfig-path FILE: makes the container's dynamic linker find the folders' libraries.
Status update_ldcache(const Arguments& arguments, const Container& container);
/// --host-driver-version V, --host-cuda-version V, --cuda-compat-container-root DIR: prefers the image's own CUDA
/// compatibility libraries where they are newer than the driver and made for it.
Status enable_cuda_compat(const Arguments& arguments, const Container& container);
/// The driver's libraries in the container are told not to make or change device nodes.
Status disable_device_node_modification(const Arguments& arguments, const Container& container);
/// EGL in the container is told which GPUs it may use: those whose nodes are there.
Status update_application_profile(const Arguments& arguments, const Container& container);
/// --mode OCTAL --path PATH …: the mode of paths that are there.
Status change_mode(const Arguments& arguments, const Container& container);

// What they share.

/// Whether a path of the container is in another mount than its root: a volume, where a link of the image may lead as
/// well. What is there belongs to the host or to another container, so hooks leave it as it is; a line on standard
/// error says so. /dev, which engines mount, is the container's.
bool is_in_volume(const RootDir& root, const std::string& path);
/// The same of what is open there already. Another container may exchange links in a volume that both have, so that the
/// path leads elsewhere a moment later: what changes something asks this of the descriptor through which it does.
bool is_in_volume(const RootDir& root, int opened, const std::string& path);
/// Makes the folder and those above it that are missing, but none that is_in_volume().
Status make_own_folders(const RootDir& root, const std::string& folder);
/// Writes a file under a new name and renames it over `path`: whoever reads sees the old or the new one, and a link or
/// FIFO of that name is replaced, not followed. A path that is_in_volume() stays as it is.
Status write_file(const RootDir& root, const std::string& path, const std::string& content, mode_t mode);
/// "/proc/self/fd/N": the one way to name an open file to calls that take a path.
std::string path_of(int fd);

}  // namespace slipway::hook
