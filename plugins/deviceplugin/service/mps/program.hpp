// SPDX-License-Identifier: Apache-2.0
// plugins/deviceplugin/service/mps/program.hpp - nvidia-cuda-mps-control: as a daemon, and for one command to it.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include <sys/types.h>

#include <slipway/host.hpp>
#include <slipway/result.hpp>

namespace slipway::deviceplugin {

/// The program, and the folders of its daemons.
struct MpsProgram {
  std::string path;       ///< nvidia-cuda-mps-control
  std::string libraries;  ///< LD_LIBRARY_PATH for a driver outside of /; else empty
  std::string root;       ///< mpsRoot, in this process' file system
  std::string look;       ///< deviceplugin-empty, which reads pipe folders
  bool live = true;       ///< the daemon gets a /dev/shm of its own; false: simulated, without one

  std::string folder(const std::string& resource) const { return root + "/" + resource; }
  std::string pipe_folder(const std::string& resource) const { return folder(resource) + "/pipe"; }
  std::string log_folder(const std::string& resource) const { return folder(resource) + "/log"; }
  std::string shm_folder() const { return root + "/shm"; }
};

/// Finds $SLIPWAY_MPS_CONTROL, else the driver's own program below its root. Errors: `not_found`; `offline` the machine
/// is not live and the variable is not set; as root, `denied` another user could replace the program that the variable
/// names.
Result<MpsProgram> find_mps_program(const Host& host, const std::string& driver_root, const std::string& mps_root);

/// Creates the folders, and a tmpfs for shared memory if possible and missing. Not called while pods may have the pipe
/// folder: they could block the process that labels it. Errors: system errors.
Status make_mps_folders(const MpsProgram& program, const std::string& resource);

/// Starts the daemon, in an empty folder, so that it outlives this process and its supervisor: as a unit of its own in
/// slipway-mps.slice where systemd runs, else in a session of its own. @return the child; 0: it is systemd's. Errors:
/// system errors; `io` systemd refuses, with its text.
Result<pid_t> start_mps_daemon(const MpsProgram& program, const std::string& resource);

/// Ends everything that was started for that resource, servers included, in any state of its folder: systemd's unit,
/// and processes that are the daemon's. Takes seconds if they do not end by themselves.
void end_mps_daemons(const MpsProgram& program, const std::string& resource);

/// Adds to the running unit the device numbers that the kernel has assigned since it started.
void renew_devices(const MpsProgram& program, const std::string& resource);

/// Sends one command on standard input; @return its output. Errors: `timed_out`; `io` it exited with a status other
/// than 0, with its output.
Result<std::string> send_to_mps_daemon(const MpsProgram& program, const std::string& resource,
                                       const std::string& command, std::chrono::milliseconds limit);

}  // namespace slipway::deviceplugin
