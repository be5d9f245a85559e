// SPDX-License-Identifier: Apache-2.0
// sdk/src/process/slipway/process/sockets.hpp - sockets that systemd listens on for a service (sd_listen_fds(3)), on
// their way to the service's worker.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include <slipway/fd.hpp>
#include <slipway/result.hpp>

namespace slipway {

inline constexpr std::size_t kMostSockets = 4;

/// What systemd handed to this process, once: LISTEN_FDS and its companions leave the environment, and programs that
/// are started inherit none. None where LISTEN_PID is another process. Errors: `invalid` what is no such number, or
/// more than kMostSockets.
Result<std::vector<Fd>> take_systemd_sockets();

/// The first of them in a worker.
inline constexpr int kFirstWorkerSocket = 4;
/// An entry of the worker's environment that says how many there are.
std::string worker_sockets_entry(std::size_t count);
/// In a worker: how many it was given. Programs that it starts inherit none of them.
std::size_t worker_sockets();

}  // namespace slipway
