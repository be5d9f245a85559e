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
  bool live = true;       ///< the daemon gets a /dev/shm of its own; false: it is told nothing of that (simulated)

  std::string pipe_folder(const std::string& resource) const { return root + "/" + resource + "/pipe"; }
  std::string log_folder(const std::string& resource) const { return root + "/" + resource + "/log"; }
  std::string shm_folder() const { return root + "/shm"; }
};

/// $SLIPWAY_MPS_CONTROL, else the driver's own below its root. Errors: `not_found`; `offline` neither live nor named; as root,
/// `denied` somebody else could exchange what the variable names.
Result<MpsProgram> find_mps_program(const Host& host, const std::string& driver_root, const std::string& mps_root);

/// Makes the folders, with a tmpfs for shared memory where that is possible and none is there, and takes away what has
/// the name of the daemon's lock and is no file. Errors: system errors.
Status make_mps_folders(const MpsProgram& program, const std::string& resource);

/// Starts the daemon so that it outlives this process and its supervisor: as a unit of its own in slipway-mps.slice
/// where systemd runs, else in a session of its own. @return the child; 0: systemd's Errors: system errors; `io`
/// systemd refuses, with its words.
Result<pid_t> start_mps_daemon(const MpsProgram& program, const std::string& resource);

/// The process that holds the lock of the pipe folder, when it runs the program, as this user and in this
/// namespace of processes; 0: there is none. Costs the daemon nothing, where each command is several lines in its log.
pid_t running_mps_daemon(const MpsProgram& program, const std::string& resource);

/// Takes away what has the name of the lock, where no daemon of ours holds it: a container that made it, or that holds
/// it, would keep the daemon from being started. Errors: system errors; a folder that is not empty is one.
Status clear_mps_lock(const MpsProgram& program, const std::string& resource);

/// One command on standard input; @return what it printed.
/// Errors: `timed_out`; `io` it exited with another status than 0, with its words.
Result<std::string> tell_mps_daemon(const MpsProgram& program, const std::string& resource, const std::string& command,
                                    std::chrono::milliseconds limit);

}  // namespace slipway::deviceplugin
