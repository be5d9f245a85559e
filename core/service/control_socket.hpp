// SPDX-License-Identifier: Apache-2.0
// core/service/control_socket.hpp - the socket on which a service is asked to be quiet: /run/slipway/service/NAME.sock.
//
// A stream of lines, a JSON object each. To the service: {"op": "quiesce"}, {"op": "resume"} or {"op": "status"}. From
// it: {"ok": true, …}, or {"ok": false, "error": {…}}. Who has quiesced it holds it quiet until it resumes or ends.
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
  /// A line came that is a JSON object with an `op`.
  std::function<void(int client, const std::string& op)> on_request;
  /// The connection has ended.
  std::function<void(int client)> on_gone;

  /// Takes the service's name in this root, and listens. Only root (or the same user) may connect.
  /// Errors: `locked` the service runs already; system errors.
  static Result<ControlSocket> open(const RootDir& root, const std::string& name);
  ControlSocket(ControlSocket&&) = default;
  ControlSocket& operator=(ControlSocket&&) = delete;
  ~ControlSocket();

  /// A descriptor that can be read when handle() has something to do.
  int fd() const { return poll_.get(); }
  /// Does what there is to do, without waiting.
  void handle();
  void answer(int client, const Json& value);

 private:
  ControlSocket() = default;
  void accept_all();
  void read_from(int client);
  void end(int client);

  std::string path_;  ///< through the descriptor of its folder
  std::optional<LockFile> lock_;
  Fd folder_;
  Fd listening_;
  Fd poll_;
  struct Client {
    Fd fd;
    std::string unread;
  };
  std::map<int, Client> clients_;
};

/// Opens the service's socket once nobody changes a device in that root: waits for as long as somebody does, which
/// systemd is told. Who begins a change after that finds the socket, and asks for quiet.
/// @param started  systemd is told then that the service has started, even if it waits on; empty: it is not
/// Errors: those of ControlSocket::open().
Result<ControlSocket> open_between_changes(const RootDir& root, const std::string& component, const Notify& notify,
                                           std::optional<std::chrono::steady_clock::time_point> started);

}  // namespace slipway::core
