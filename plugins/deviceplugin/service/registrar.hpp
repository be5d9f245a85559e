// SPDX-License-Identifier: Apache-2.0
// plugins/deviceplugin/service/registrar.hpp - keeps one endpoint for each resource on the board, in a thread of its
// own, which sleeps until a file, a stream or the board changes.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include <slipway/watch/file_watch.hpp>

#include "deviceplugin/service/board.hpp"
#include "deviceplugin/service/endpoint/endpoint.hpp"
#include "deviceplugin/service/endpoint/plugin_lock.hpp"

namespace slipway::deviceplugin {

/// Survives a reload, which replaces the Service object, so that unchanged resources stay registered.
class Registrar {
 public:
  Registrar(RootDir root, EndpointPaths paths, Endpoint::Log log);
  ~Registrar();
  Registrar(const Registrar&) = delete;
  Registrar& operator=(const Registrar&) = delete;

  const std::shared_ptr<Board>& board() const { return board_; }
  std::map<std::string, EndpointStatus> status() const;
  const RootDir& root() const { return root_; }
  /// Ends all endpoints; status() keeps its value.
  void close();
  /// Uses these paths from now on. Endpoints whose paths are unchanged stay; the others register again.
  void use(EndpointPaths paths);
  void set_log(Endpoint::Log log);
  /// Sets the function that its thread calls when status() has changed. Empty: no call.
  void set_on_change(std::function<void()> on_change);

 private:
  using Clock = Endpoint::Clock;
  void work(const std::stop_token& stop);
  void watch_files();
  void wait(Clock::time_point until);
  Clock::time_point pass(const Snapshot& snapshot, const std::stop_token& stop);
  Clock::time_point tick_all(const Snapshot& snapshot, const std::stop_token& stop);
  Clock::time_point wait_for_lock(const Snapshot& snapshot);
  void take_paths();
  void end_streams();
  void end_all();
  std::unique_ptr<Endpoint> make_endpoint(const std::string& name, const std::stop_token& stop);
  void publish(std::map<std::string, EndpointStatus> status);
  void log(const char* level, const std::string& text);

  RootDir root_;
  std::shared_ptr<Board> board_ = std::make_shared<Board>();
  GrpcThread grpc_;
  EndpointPaths paths_;  ///< of the endpoints
  std::optional<PluginLock> lock_;
  bool logged_lock_ = false;  ///< the log has a line that another process holds the lock
  std::optional<FileWatch> files_;
  std::map<std::string, std::unique_ptr<Endpoint>> endpoints_;
  std::shared_ptr<const Snapshot> listed_;  ///< the snapshot that lists_ was made from
  std::map<std::string, DeviceList> lists_;
  std::string other_;  ///< the plugin that has the lock, as it was logged
  Fd other_end_;       ///< a connection to it, which ends when it exits
  Clock::time_point other_gone_;
  mutable std::mutex mutex_;  ///< guards the members below
  EndpointPaths wanted_;
  Endpoint::Log log_;
  std::function<void()> on_change_;
  std::map<std::string, EndpointStatus> status_;
  std::jthread thread_;
};

}  // namespace slipway::deviceplugin
