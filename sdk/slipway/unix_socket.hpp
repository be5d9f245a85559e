// SPDX-License-Identifier: Apache-2.0
// sdk/slipway/unix_socket.hpp - connects to the sockets of the host's daemons, including slipway's own services.
#pragma once

#include <string>
#include <vector>

#include <slipway/host.hpp>
#include <slipway/root_dir.hpp>

namespace slipway {

/// The folder in which each service of slipway listens, on COMPONENT.sock.
inline constexpr const char* kControlFolder = "/run/slipway/service";

/// Returns a non-blocking connection to a stream socket; no link leads out of the root.
/// Errors: `not_found` there is no such path, or the host borrows its root (Host::borrows_root()); `denied` this user
/// has no access; `busy` its queue is full; `unreachable` no process listens, as when its program has ended; others of
/// socket(2) and connect(2).
Result<Fd> connect_to(const Host& host, const std::string& socket);
Result<Fd> connect_to(const RootDir& root, const std::string& socket);

/// True when the service of that component runs in this root, so that its files are up to date. Also true when this
/// user has no access to it.
bool service_runs(const Host& host, const std::string& component);

/// The services that run in a root, quiesced through their control sockets while a device is changed. They resume when
/// this object is destroyed or the process ends.
class QuiescedServices {
 public:
  /// Asks all services at once, and returns when each has released the driver, after 35 s at the latest. A service that
  /// ends meanwhile has released the driver as well. Errors: `busy` a service did not release the driver, naming the
  /// service; `denied` a service accepts only another user. The services that are already quiesced then resume.
  static Result<QuiescedServices> quiesce(const Host& host);

 private:
  std::vector<Fd> connections_;
};

}  // namespace slipway
