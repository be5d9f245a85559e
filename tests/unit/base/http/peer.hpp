// SPDX-License-Identifier: Apache-2.0
// tests/unit/base/http/peer.hpp - the listener's peer for an address.
#pragma once

#include <string>

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>

#include "base/http/address.hpp"

namespace slipway::base {

inline std::string peer(const std::string& address) {
  sockaddr_in four{};
  sockaddr_in6 six{};
  four.sin_family = AF_INET;
  six.sin6_family = AF_INET6;
  four.sin_port = six.sin6_port = htons(1234);
  if (::inet_pton(AF_INET, address.c_str(), &four.sin_addr) == 1) return peer_of(reinterpret_cast<sockaddr*>(&four));
  EXPECT_EQ(::inet_pton(AF_INET6, address.c_str(), &six.sin6_addr), 1) << address;
  return peer_of(reinterpret_cast<sockaddr*>(&six));
}

}  // namespace slipway::base
