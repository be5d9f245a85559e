// SPDX-License-Identifier: Apache-2.0
// sdk/slipway/unix_socket.hpp - connects to the sockets of daemons of the host, slipway's own services among them.
#pragma once

#include <string>

#include <slipway/host.hpp>
#include <slipway/root_dir.hpp>

namespace slipway {

/// Where each service of slipway listens, on COMPONENT.sock.
inline constexpr const char* kControlFolder = "/run/slipway/service";

/// A connection to a stream socket, which does not block; no link leads out of the root.
/// Errors: `not_found` there is no such path; `denied` this user may not; `busy` it has no room for one more; others of
/// connect(2), such as that of a socket whose program is gone.
Result<Fd> connect_to(const Host& host, const std::string& socket);

/// The service of that component runs in this root: what it wrote is about the present. Also true where this user may
/// not ask it.
bool service_runs(const Host& host, const std::string& component);

}  // namespace slipway
