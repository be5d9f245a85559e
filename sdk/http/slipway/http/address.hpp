// SPDX-License-Identifier: Apache-2.0
// sdk/http/slipway/http/address.hpp - the address that a listener listens on, and those of its peers.
#pragma once

#include <string>
#include <string_view>

#include <slipway/root_dir.hpp>

#include "slipway/http/http_listener.hpp"

struct sockaddr;

namespace slipway {

/// A socket that listens on the address that was asked for, and on no other. "::" is every address of the machine;
/// where its kernel has no IPv6, every IPv4 address.
/// Errors: `invalid` the address is none; `busy` the port is taken; those of socket(2) and bind(2).
Result<Fd> listen_on(const HttpSettings& settings);

/// The same socket under another number. Errors: `invalid` it is no stream socket that listens.
Result<Fd> listening_copy(int socket);

/// Who is at the other end, as far as addresses are dear: an IPv4 address, also where IPv6 carries it; a whole /64 of
/// IPv6, which a host has for itself, but of a link (fe80::/10) the whole address; all of this machine's loopback, of
/// which everybody here has 2^24 addresses, as one. No port. Empty: an address of another kind.
std::string peer_of(const sockaddr* address);
inline constexpr const char* kLoopbackPeer = "loopback";

/// Both are of one family, IPv4 or IPv6, and have the same address; the ports do not matter.
bool is_same_address(const sockaddr* one, const sockaddr* other);

/// Whether the header Host of a request is a name that nobody else can have pointed here: an address, localhost, or
/// what this machine calls itself. A site that a browser on this machine visits may have its own name point to
/// 127.0.0.1, and would read what is answered under it (DNS rebinding).
bool is_own_name(std::string_view host);

}  // namespace slipway
