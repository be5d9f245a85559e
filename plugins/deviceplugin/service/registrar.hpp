// SPDX-License-Identifier: Apache-2.0
// plugins/deviceplugin/service/registrar.hpp - keeps one endpoint for each resource on the board, in a thread of its
// own.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <thread>

#include "deviceplugin/service/board.hpp"
#include "deviceplugin/service/endpoint.hpp"

namespace slipway::deviceplugin {

/// How a resource stands with kubelet, for status and metrics.
struct EndpointStatus {
  bool registered = false;
  unsigned streams = 0;
  unsigned registrations = 0;
  std::string problem;
  bool operator==(const EndpointStatus&) const = default;
};

/// Outlives the Service object of a reload, so that resources that did not change stay registered.
class Registrar {
 public:
  Registrar(EndpointPaths paths, Endpoint::Log log);
  ~Registrar();
  Registrar(const Registrar&) = delete;
  Registrar& operator=(const Registrar&) = delete;

  const std::shared_ptr<Board>& board() const { return board_; }
  std::map<std::string, EndpointStatus> status() const;
  const EndpointPaths& paths() const { return paths_; }
  void set_log(Endpoint::Log log);

 private:
  void work(const std::stop_token& stop);
  void pass(const Snapshot& snapshot);
  std::unique_ptr<Endpoint> make_endpoint(const std::string& name);
  void log(const char* level, const std::string& text);

  EndpointPaths paths_;
  std::shared_ptr<Board> board_ = std::make_shared<Board>();
  std::map<std::string, std::unique_ptr<Endpoint>> endpoints_;
  std::shared_ptr<const Snapshot> listed_;  ///< what lists_ was made of
  std::map<std::string, DeviceList> lists_;
  mutable std::mutex mutex_;  ///< for log_ and status_
  Endpoint::Log log_;
  std::map<std::string, EndpointStatus> status_;
  std::jthread thread_;
};

}  // namespace slipway::deviceplugin
