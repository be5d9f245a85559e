// SPDX-License-Identifier: Apache-2.0
// base/http/address.hpp - the address that a listener listens on, and those of its peers.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <slipway/root_dir.hpp>

#include "base/http/http_listener.hpp"

struct sockaddr;

namespace slipway {

/// A socket that listens on the address that was asked for, and on no other. "::" is every address of the machine;
/// where its kernel has no IPv6, every IPv4 address.
/// Errors: `invalid` the address is none; `busy` the port is taken; those of socket(2) and bind(2).
Result<Fd> listen_on(const HttpSettings& settings);

/// The same socket under another number. Errors: `invalid` it is not a stream socket that listens.
Result<Fd> listening_copy(int socket);

/// Who is at the other end, as far as addresses are dear: an IPv4 address, also where IPv6 carries it; a whole /64 of
/// IPv6, which a host has for itself, but of a link (fe80::/10) the whole address; all of this machine's loopback, of
/// which everybody here has 2^24 addresses, as one. No port. Empty: an address of another kind.
std::string peer_of(const sockaddr* address);
inline constexpr const char* kLoopbackPeer = "loopback";

/// The user of this machine who has the other end of a connection; nothing: it is elsewhere, or closed, or this kernel
/// does not tell.
/// @param client  the address of the other end, @param listener  the one that it was connected to
std::optional<unsigned> local_user_of(const sockaddr* client, const sockaddr* listener);

/// peer_of() of the other end of an accepted connection; of this machine's users, each is a peer of its own, by
/// whichever of its addresses. Users above 65535 are one for each 65536 of them: whoever makes a user namespace may
/// have as many.
std::string peer_of_connection(int accepted, const sockaddr* client);

/// The network of a peer whose hosts may all be one guesser's: /16 of IPv4, /48 of IPv6. Empty: it has none.
std::string network_of(const std::string& peer);

/// What this machine is called: its host name, that up to the first dot, and that with each domain which its resolver
/// looks in.
std::vector<std::string> own_names();

/// Whether the header Host of a request is a name that nobody else can have pointed here: an address, localhost, or one
/// of `names` (or below one that begins with a dot). A site that a browser visits may have its own name point to any
/// machine which that browser reaches, and would read what is answered under it (DNS rebinding).
bool is_own_name(std::string_view host, const std::vector<std::string>& names);

}  // namespace slipway
