// SPDX-License-Identifier: Apache-2.0
#include "base/log/journal.hpp"

#include <cerrno>
#include <cstdint>
#include <cstring>

#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/log/lines.hpp"

namespace slipway::base {
namespace {

constexpr int kSendBuffer = 1 << 20;

void add_field(std::string& entry, const char* name, const std::string& value) {
  entry += name;
  if (value.find('\n') == std::string::npos) {
    entry += "=" + value + "\n";
    return;
  }
  entry += '\n';
  for (unsigned shift = 0; shift < 64; shift += 8)  // 64 bits, little-endian
    entry += static_cast<char>(static_cast<std::uint64_t>(value.size()) >> shift & 0xFFU);
  entry += value + "\n";
}

/// The journal stores values unchanged, and its readers print them: keeps line ends, escapes bytes that move a cursor.
std::string message_of(const LogEvent& event) {
  std::string text = event.block;
  if (text.empty()) text = (event.component.empty() ? "" : event.component + ": ") + event.message;
  while (text.ends_with('\n')) text.pop_back();
  return printable(text, true);
}

}  // namespace

std::string journal_entry(const LogEvent& event) {
  std::string entry;
  add_field(entry, "MESSAGE", message_of(event));
  add_field(entry, "PRIORITY", std::to_string(syslog_priority(event.level)));
  add_field(entry, "SYSLOG_IDENTIFIER", "slipway");
  if (!event.component.empty()) add_field(entry, "SLIPWAY_COMPONENT", event.component);
  if (!event.phase.empty()) add_field(entry, "SLIPWAY_PHASE", event.phase);
  if (event.generation) add_field(entry, "SLIPWAY_GENERATION", std::to_string(*event.generation));
  return entry;
}

bool is_journal(int descriptor, const char* stream) {
  struct stat info {};
  if (stream == nullptr || ::fstat(descriptor, &info) != 0) return false;
  return std::to_string(info.st_dev) + ":" + std::to_string(info.st_ino) == stream;
}

SystemdJournal::SystemdJournal(std::string socket)
    : path_(std::move(socket)), socket_(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0)) {
  if (socket_) ::setsockopt(socket_.get(), SOL_SOCKET, SO_SNDBUF, &kSendBuffer, sizeof kSendBuffer);
}

bool SystemdJournal::send(const LogEvent& event) const {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (!socket_ || path_.size() >= sizeof address.sun_path) return false;
  path_.copy(address.sun_path, path_.size());
  const std::string entry = journal_entry(event);
  ssize_t sent = -1;
  do {
    sent = ::sendto(socket_.get(), entry.data(), entry.size(), MSG_NOSIGNAL,
                    reinterpret_cast<const sockaddr*>(&address), sizeof address);
  } while (sent < 0 && errno == EINTR);
  return sent == static_cast<ssize_t>(entry.size());
}

}  // namespace slipway::base
