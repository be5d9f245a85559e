// SPDX-License-Identifier: Apache-2.0
// plugins/toolkit/unix_socket.hpp - connects to the socket of a daemon of the host.
#pragma once

#include <string>

#include <slipway/host.hpp>
#include <slipway/root_dir.hpp>

namespace slipway::toolkit {

/// A connection to a stream socket, which does not block. Errors: `not_found` there is no such path; those of
/// connect(2): nobody listens there.
Result<Fd> connect_to(const Host& host, const std::string& socket);

}  // namespace slipway::toolkit
