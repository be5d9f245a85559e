// SPDX-License-Identifier: Apache-2.0
// tests/unit/plugins/toolkit/runtime/engine_socket.hpp - a running engine on a machine for tests: its socket, and its
// entries in /proc.
#pragma once

#include <cstring>
#include <string>

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <slipway/root_dir.hpp>
#include <slipway/testing/fake_host.hpp>

namespace slipway::toolkit {

/// This process listens, so it is the peer of every client.
inline Fd listen_at(const testing::FakeHost& host, const std::string& socket) {
  Fd end(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  const std::string path = host.root().string() + socket;
  EXPECT_LT(path.size(), sizeof(address.sun_path));
  std::strncpy(address.sun_path, path.c_str(), sizeof(address.sun_path) - 1);
  EXPECT_EQ(::bind(end.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)), 0);
  EXPECT_EQ(::listen(end.get(), 8), 0);
  return end;
}

/// The contents of /proc for this process.
inline void be_daemon(testing::FakeHost& host, const std::string& exe, const std::string& command,
                      const std::string& unit) {
  const std::string process = "/proc/" + std::to_string(::getpid());
  host.link(process + "/exe", exe);
  std::string line = command;
  for (char& letter : line)
    if (letter == ' ') letter = '\0';
  host.file(process + "/cmdline", line + '\0');
  host.file(process + "/cgroup", "0::/system.slice/" + unit + "\n");
}

}  // namespace slipway::toolkit
