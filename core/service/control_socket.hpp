// SPDX-License-Identifier: Apache-2.0
// core/service/control_socket.hpp - the socket for requests to a service, such as quiesce:
// /run/slipway/service/NAME.sock.
//
// Each line is a JSON object. Requests: {"op": "quiesce"}, {"op": "resume"} or {"op": "status"}. Answers: {"ok": true,
// …}, or {"ok": false, "error": {…}}. The service stays quiesced until the client that quiesced it resumes it or
// disconnects.
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <optional>
#include <string>

#include <slipway/json.hpp>
#include <slipway/result.hpp>
#include <slipway/root_dir.hpp>
#include <slipway/unix_socket.hpp>

#include "base/write/lock_file.hpp"

namespace slipway::core {

class Notify;

class ControlSocket {
 public:
  /// Called for a line that is a JSON object with an `op`.
  std::function<void(int client, const std::string& op)> on_request;
  /// Called when the connection has ended.
  std::function<void(int client)> on_gone;

  /// Takes the service's name in this root, and listens. Only root (or the same user) may connect.
  /// Errors: `locked` the service is already running; system errors.
  static Result<ControlSocket> open(const RootDir& root, const std::string& name);
  ControlSocket(ControlSocket&&) = default;
  ControlSocket& operator=(ControlSocket&&) = delete;
  ~ControlSocket();

  /// Returns a descriptor that is readable when handle() has work.
  int fd() const { return poll_.get(); }
  /// Handles all pending events without waiting.
  void handle();
  void answer(int client, const Json& value);

 private:
  ControlSocket() = default;
  void accept_all();
  void read_from(int client);
  void end(int client);

  std::string path_;  ///< goes through the descriptor of its folder
  std::optional<base::LockFile> lock_;
  Fd folder_;
  Fd listening_;
  Fd poll_;
  struct Client {
    Fd fd;
    std::string unread;
  };
  std::map<int, Client> clients_;
};

/// Opens the service's socket once no process changes a device in that root. Until then, tells systemd why the service
/// waits. A change that begins later finds the socket and quiesces the service.
/// @param started  when systemd is told that the service has started, even if it still waits; empty: not told
/// Errors: those of ControlSocket::open().
Result<ControlSocket> open_between_changes(const RootDir& root, const std::string& component, const Notify& notify,
                                           std::optional<std::chrono::steady_clock::time_point> started);

}  // namespace slipway::core
