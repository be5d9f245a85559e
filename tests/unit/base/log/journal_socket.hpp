// SPDX-License-Identifier: Apache-2.0
// tests/unit/base/log/journal_socket.hpp - stands in for journald: a datagram socket, and its entries, parsed.
#pragma once

#include <cstdint>
#include <cstring>
#include <map>
#include <stdexcept>
#include <string>

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <slipway/testing/temp_dir.hpp>

namespace slipway::testing {

/// Returns the fields of an entry in journald's native protocol. @throws std::runtime_error when it is invalid
inline std::map<std::string, std::string> fields_of(const std::string& entry) {
  std::map<std::string, std::string> fields;
  for (std::size_t at = 0; at < entry.size();) {
    const std::size_t end = entry.find_first_of("=\n", at);
    if (end == std::string::npos) throw std::runtime_error("a field without an end");
    const std::string name = entry.substr(at, end - at);
    std::size_t begin = end + 1;
    std::size_t size = 0;
    if (entry[end] == '=') {
      size = entry.find('\n', begin) - begin;
    } else {
      for (unsigned i = 0; i < 8; ++i) size |= std::size_t{static_cast<unsigned char>(entry.at(begin + i))} << (8 * i);
      begin += 8;
    }
    if (entry.at(begin + size) != '\n') throw std::runtime_error("a value without an end");
    if (!fields.emplace(name, entry.substr(begin, size)).second) throw std::runtime_error(name + " twice");
    at = begin + size + 1;
  }
  return fields;
}

class JournalSocket {
 public:
  JournalSocket() : fd_(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0)) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    path().copy(address.sun_path, sizeof address.sun_path - 1);
    if (::bind(fd_, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0)
      throw std::runtime_error("cannot bind " + path());
  }
  JournalSocket(const JournalSocket&) = delete;
  JournalSocket& operator=(const JournalSocket&) = delete;
  ~JournalSocket() { ::close(fd_); }

  std::string path() const { return folder_.at("journal").string(); }
  /// Returns the next entry; empty if no entry waits. Entries that were sent before are available at once.
  std::string entry() const {
    std::string bytes(1 << 16, '\0');
    const ssize_t got = ::recv(fd_, bytes.data(), bytes.size(), MSG_DONTWAIT);
    bytes.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
    return bytes;
  }

 private:
  TempDir folder_;
  int fd_;
};

}  // namespace slipway::testing
