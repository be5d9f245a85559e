// SPDX-License-Identifier: Apache-2.0
// plugins/deviceplugin/service/grpc/server.hpp - gRPC servers on Unix sockets, all of them in one thread.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include <slipway/fd.hpp>
#include <slipway/result.hpp>
#include <slipway/root_dir.hpp>

#include "deviceplugin/service/grpc/connection.hpp"
#include "deviceplugin/service/grpc/file_id.hpp"

namespace slipway::deviceplugin {

class GrpcServer;

/// The thread that serves all sockets. It outlives its servers, and sleeps while there are no requests.
class GrpcThread {
 public:
  GrpcThread();
  ~GrpcThread();
  GrpcThread(const GrpcThread&) = delete;
  GrpcThread& operator=(const GrpcThread&) = delete;

 private:
  friend class GrpcServer;
  void work(const std::stop_token& stop);
  void watch(int fd, bool writable, GrpcServer& server);
  void forget(int fd);

  Fd poll_;
  Fd wake_;
  std::mutex mutex_;                    ///< guards the state of all servers
  std::map<int, GrpcServer*> servers_;  ///< by descriptor
  std::jthread thread_;
};

/// One socket.
class GrpcServer {
 public:
  struct Options {
    std::string socket;  ///< a path inside the root
    GrpcMethods methods;
    GrpcMessage newest;  ///< of the feed
    /// A feed stream or a connection began or ended; called on the server's thread, and must not call the server.
    std::function<void()> on_change;
  };

  /// Listens. The socket atomically replaces any file of its name, so that a client that finds it can connect; only its
  /// owner can. Methods are called in the thread, one at a time. Errors: those of the file system, with the path.
  static Result<std::unique_ptr<GrpcServer>> start(GrpcThread& thread, const RootDir& root, Options options);
  /// Closes all connections, and removes the socket if it is still its own.
  ~GrpcServer();
  GrpcServer(const GrpcServer&) = delete;
  GrpcServer& operator=(const GrpcServer&) = delete;

  /// The socket's file.
  const FileId& file() const { return file_; }
  void show(GrpcMessage newest);
  void end_streams();
  unsigned streams() const;
  /// Number of streams opened so far, closed ones included.
  unsigned streams_begun() const;
  /// Number of open connections that had a stream; kubelet closes its own when it has noticed the end of its stream.
  unsigned connections() const;
  /// True when everything was sent.
  bool is_idle() const;

 private:
  friend class GrpcThread;
  GrpcServer(GrpcThread& thread, Options options) : thread_(thread), options_(std::move(options)) {}
  void ready(int fd);
  void accept_all();
  void send_all();
  void settle(int fd, bool goes_on);
  unsigned count_streams() const;

  GrpcThread& thread_;
  Options options_;
  Fd folder_;
  std::string name_;
  FileId file_;
  Fd listening_;
  std::map<int, std::unique_ptr<GrpcConnection>> connections_;
  unsigned streams_begun_ = 0;
};

}  // namespace slipway::deviceplugin
