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

/// The program and where its daemons keep their files.
struct MpsProgram {
  std::string path;       ///< nvidia-cuda-mps-control
  std::string libraries;  ///< LD_LIBRARY_PATH for a driver that is not at /; else empty
  std::string root;       ///< mpsRoot, as this process sees it
  std::string look;       ///< deviceplugin-empty, which looks into pipe folders
  bool live = true;       ///< the daemon gets a /dev/shm of its own; false: it is told nothing of that (simulated)

  std::string folder(const std::string& resource) const { return root + "/" + resource; }
  std::string pipe_folder(const std::string& resource) const { return folder(resource) + "/pipe"; }
  std::string log_folder(const std::string& resource) const { return folder(resource) + "/log"; }
  std::string shm_folder() const { return root + "/shm"; }
};

/// $SLIPWAY_MPS_CONTROL, else the driver's own below its root. Errors: `not_found`; `offline` neither live nor named;
/// as root, `denied` somebody else could exchange what the variable names.
Result<MpsProgram> find_mps_program(const Host& host, const std::string& driver_root, const std::string& mps_root);

/// Makes the folders, with a tmpfs for shared memory where that is possible and none is there. Not where pods may have
/// the pipe folder already: they could hold up who labels it. Errors: system errors.
Status make_mps_folders(const MpsProgram& program, const std::string& resource);

/// Starts the daemon, in an empty folder, so that it outlives this process and its supervisor: as a unit of its own in
/// slipway-mps.slice where systemd runs, else in a session of its own. @return the child; 0: systemd's Errors: system
/// errors; `io` systemd refuses, with its words.
Result<pid_t> start_mps_daemon(const MpsProgram& program, const std::string& resource);

/// Ends what was started for that resource, with its servers, however its folder looks now: systemd's unit, and
/// processes that are the daemon's. Takes seconds when they do not end by themselves.
void end_mps_daemons(const MpsProgram& program, const std::string& resource);

/// Has systemd's unit open the devices whose numbers the kernel has given since it started.
void renew_devices(const MpsProgram& program, const std::string& resource);

/// One command on standard input; @return what it printed.
/// Errors: `timed_out`; `io` it exited with another status than 0, with its words.
Result<std::string> tell_mps_daemon(const MpsProgram& program, const std::string& resource, const std::string& command,
                                    std::chrono::milliseconds limit);

}  // namespace slipway::deviceplugin
