// SPDX-License-Identifier: Apache-2.0
// base/log/journal.hpp - writes to systemd's journal with its native protocol (systemd.io/JOURNAL_NATIVE_PROTOCOL).
#pragma once

#include <string>

#include <slipway/root_dir.hpp>

#include "base/log/event.hpp"

namespace slipway::base {

/// Returns an entry in the socket's form: a field per line, NAME=VALUE; a value with line ends is preceded by its
/// length.
std::string journal_entry(const LogEvent& event);

/// True when a descriptor is connected to the journal: $JOURNAL_STREAM has its device and inode (systemd.exec(5)).
/// @param stream  the variable's value; null: not set
bool is_journal(int descriptor, const char* stream);

class SystemdJournal {
 public:
  /// @param socket  path of journald's socket
  explicit SystemdJournal(std::string socket);
  /// @return false: the entry is not in the journal, since no process listens or it is too long for a datagram
  bool send(const LogEvent& event) const;

 private:
  std::string path_;
  Fd socket_;
};

}  // namespace slipway::base
