// SPDX-License-Identifier: Apache-2.0
// sdk/src/process/slipway/process/sockets.hpp - passes sockets that systemd listens on for a service (sd_listen_fds(3))
// to the service's worker.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include <slipway/fd.hpp>
#include <slipway/result.hpp>

namespace slipway {

inline constexpr std::size_t kMostSockets = 4;

/// Takes the sockets that systemd passed to this process, once: removes LISTEN_FDS and its companions from the
/// environment, and programs started later inherit none. Empty when LISTEN_PID is another process. Errors: `invalid`
/// when a value is not a valid number, or more than kMostSockets.
Result<std::vector<Fd>> take_systemd_sockets();

/// The first of them in a worker.
inline constexpr int kFirstWorkerSocket = 4;
/// Returns the worker's environment variable with their number.
std::string worker_sockets_entry(std::size_t count);
/// In a worker: returns the number of its sockets. Programs that it starts inherit none of them.
std::size_t worker_sockets();

}  // namespace slipway
