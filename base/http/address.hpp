// SPDX-License-Identifier: Apache-2.0
// base/http/address.hpp - the address of a listener, and the addresses of its peers.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <slipway/root_dir.hpp>

#include "base/http/http_listener.hpp"

struct sockaddr;

namespace slipway::base {

/// Opens a socket that listens on the requested address only. "::" is every address of the machine; when its kernel has
/// no IPv6, every IPv4 address.
/// Errors: `invalid` the address is invalid; `busy` the port is in use; those of socket(2) and bind(2).
Result<Fd> listen_on(const HttpSettings& settings);

/// Duplicates the descriptor of a socket. Errors: `invalid` it is not a listening stream socket.
Result<Fd> listening_copy(int socket);

/// Identifies the peer of a connection without its port, so that one host cannot pose as many peers: an IPv4 address,
/// also inside IPv6; the /64 of an IPv6 address, which belongs to one host; the whole address if it is link-local
/// (fe80::/10); one peer for all of loopback, where each local user has 2^24 addresses. Empty for an address of another
/// kind.
std::string peer_of(const sockaddr* address);
inline constexpr const char* kLoopbackPeer = "loopback";

/// Returns the user of this machine who owns the other end of a connection; nothing when that end is on another machine
/// or closed, or this kernel does not report its owner.
/// @param client    the address of the other end
/// @param listener  the address that it connected to
std::optional<unsigned> local_user_of(const sockaddr* client, const sockaddr* listener);

/// Returns peer_of() for the other end of an accepted connection. Each user of this machine is a separate peer, for any
/// of its addresses. Users above 65535 share one peer for each 65536 of them: a user who makes a user namespace may
/// have that many.
std::string peer_of_connection(int accepted, const sockaddr* client);

/// Returns the network of a peer, whose hosts may all belong to one guesser: /16 of IPv4, /48 of IPv6. Empty for a peer
/// without such a network (loopback, link-local).
std::string network_of(const std::string& peer);

/// Returns the names of this machine: its host name, the part before the first dot, and that part with each search
/// domain of its resolver.
std::vector<std::string> own_names();

/// True when the header Host of a request is a name that no other party can have pointed here: an address, localhost,
/// or one of `names` (or below one that begins with a dot). A web site can point its own name to any machine that its
/// visitors' browsers reach, and would read the answers under that name (DNS rebinding).
bool is_own_name(std::string_view host, const std::vector<std::string>& names);

}  // namespace slipway::base
