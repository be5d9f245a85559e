// SPDX-License-Identifier: Apache-2.0
// plugins/deviceplugin/service/grpc/watchers.hpp - the open ListAndWatch streams of a resource.
#pragma once

#include <memory>
#include <mutex>
#include <set>

#include <grpcpp/support/server_callback.h>
#include <slipway/kubelet/deviceplugin_v1beta1.pb.h>

#include "deviceplugin/service/grpc/plugin_server.hpp"

namespace slipway::deviceplugin {

class Watcher;

/// Hands the newest list to every stream. Thread-safe; outlives its streams through shared_ptrs.
class Watchers : public std::enable_shared_from_this<Watchers> {
 public:
  explicit Watchers(const DeviceList& list);

  grpc::ServerWriteReactor<v1beta1::ListAndWatchResponse>* open();
  void show(const DeviceList& list);
  /// @param for_good  streams that open from now on end at once
  void end_all(bool for_good);
  unsigned count() const;

 private:
  friend class Watcher;
  using Message = std::shared_ptr<const v1beta1::ListAndWatchResponse>;
  void gone(Watcher* watcher);

  mutable std::mutex mutex_;
  Message newest_;
  std::set<Watcher*> open_;
  bool closed_ = false;
};

}  // namespace slipway::deviceplugin
