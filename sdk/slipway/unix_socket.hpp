// SPDX-License-Identifier: Apache-2.0
// sdk/slipway/unix_socket.hpp - connects to the sockets of daemons of the host, slipway's own services among them.
#pragma once

#include <string>
#include <vector>

#include <slipway/host.hpp>
#include <slipway/root_dir.hpp>

namespace slipway {

/// Where each service of slipway listens, on COMPONENT.sock.
inline constexpr const char* kControlFolder = "/run/slipway/service";

/// A connection to a stream socket, which does not block; no link leads out of the root.
/// Errors: `not_found` there is no such path, or the host borrows its root (Host::borrows_root()); `denied` this user
/// may not; `busy` it has no room for one more; `unreachable` nobody listens, as at a socket whose program is gone;
/// others of socket(2) and connect(2).
Result<Fd> connect_to(const Host& host, const std::string& socket);
Result<Fd> connect_to(const RootDir& root, const std::string& socket);

/// The service of that component runs in this root: what it wrote is about the present. Also true where this user may
/// not ask it.
bool service_runs(const Host& host, const std::string& component);

/// The services that run in a root, quiesced through their control sockets while a device is changed. They resume when
/// this object, or the process, ends.
class QuiescedServices {
 public:
  /// Asks all of them at once and returns when each has released the driver, at the latest after 35 s. A service that
  /// ends meanwhile has released it as well.
  /// Errors: `busy` one did not release it, naming the service; `denied` one may be asked by another user only. Those
  /// that are quiet by then resume.
  static Result<QuiescedServices> quiesce(const Host& host);

 private:
  std::vector<Fd> connections_;
};

}  // namespace slipway
