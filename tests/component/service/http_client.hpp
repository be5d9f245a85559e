// SPDX-License-Identifier: Apache-2.0
// tests/component/service/http_client.hpp - asks a service's HTTP listener on loopback, and finds it a port.
#pragma once

#include <cstdint>
#include <string>
#include <utility>

#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

namespace slipway::testing {

inline sockaddr_in loopback(std::uint16_t port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return address;
}

/// Returns a port that was free a moment ago, and the socket bound to it.
inline std::pair<int, std::uint16_t> take_port() {
  const int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address = loopback(0);
  socklen_t length = sizeof address;
  EXPECT_EQ(::bind(fd, reinterpret_cast<sockaddr*>(&address), length), 0);
  EXPECT_EQ(::getsockname(fd, reinterpret_cast<sockaddr*>(&address), &length), 0);
  return {fd, ntohs(address.sin_port)};
}

/// Returns a port that was free a moment ago.
inline std::uint16_t free_port() {
  const auto [fd, port] = take_port();
  ::close(fd);
  return port;
}

/// Returns the whole answer, headers too; empty: no listener.
inline std::string http_get(std::uint16_t port, const std::string& path) {
  const int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const sockaddr_in address = loopback(port);
  std::string answer;
  if (::connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0) {
    const std::string request = "GET " + path + " HTTP/1.0\r\n\r\n";
    (void)!::send(fd, request.data(), request.size(), MSG_NOSIGNAL);
    char part[4096];
    for (ssize_t got = 0; (got = ::recv(fd, part, sizeof part, 0)) > 0;)
      answer.append(part, static_cast<std::size_t>(got));
  }
  ::close(fd);
  return answer;
}

/// Without its headers.
inline std::string http_body(std::uint16_t port, const std::string& path) {
  const std::string answer = http_get(port, path);
  const std::size_t end = answer.find("\r\n\r\n");
  return end == std::string::npos ? "" : answer.substr(end + 4);
}

}  // namespace slipway::testing
