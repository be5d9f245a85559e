// SPDX-License-Identifier: Apache-2.0
// base/log/journal.hpp - systemd's journal, spoken to by its native protocol (systemd.io/JOURNAL_NATIVE_PROTOCOL).
#pragma once

#include <string>

#include <slipway/root_dir.hpp>

#include "base/log/event.hpp"

namespace slipway::core {

/// An entry as it goes over the socket: a field a line, NAME=VALUE; a value with line ends by its length.
std::string journal_entry(const LogEvent& event);

/// Whether a descriptor is the journal's: $JOURNAL_STREAM has its device and inode (systemd.exec(5)).
/// @param stream  the variable's value; null: not set
bool is_journal(int descriptor, const char* stream);

class SystemdJournal {
 public:
  /// @param socket  of journald, a path
  explicit SystemdJournal(std::string socket);
  /// @return false: the entry is not in the journal, since nobody listens or it is too long for a datagram
  bool send(const LogEvent& event) const;

 private:
  std::string path_;
  Fd socket_;
};

}  // namespace slipway::core
