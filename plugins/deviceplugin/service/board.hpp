// SPDX-License-Identifier: Apache-2.0
// plugins/deviceplugin/service/board.hpp - what is known and offered right now; written by one thread, read by all.
#pragma once

#include <atomic>
#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include <slipway/fd.hpp>

#include "deviceplugin/allocation/allocate.hpp"
#include "deviceplugin/allocation/preferred.hpp"
#include "deviceplugin/allocation/uncounted.hpp"
#include "deviceplugin/devices/health.hpp"
#include "deviceplugin/service/grpc/plugin_server.hpp"

namespace slipway::deviceplugin {

/// One state of everything; never changed once it is published.
struct Snapshot {
  Settings settings;
  Extras extras;
  std::string driver_version;
  std::vector<Gpu> gpus;
  std::vector<AbsentGpu> absent;   ///< on the PCI bus, and not shown by the driver
  std::vector<Gpu> repartitioned;  ///< by another program than slipway, since the service opened NVML
  Nearness nearness;
  Resources resources;
  std::map<std::string, Health> health;        ///< by GPU, or instance_key(); of those that are sick
  std::map<std::string, std::string> unready;  ///< why a resource is not handed out, by resource: MPS is not up
  std::vector<std::string> notes;
  std::string problem;  ///< why nothing, or not everything, is offered
  std::string yields;   ///< to which other device plugin the GPUs are left; then nothing is offered
  bool operator==(const Snapshot&) const = default;

  /// How near the GPUs are is known, or cannot be.
  bool is_measured() const { return !problem.empty() || nearness.size() == gpus.size(); }
  Health health_of(const Device& device) const;
};

class Board {
 public:
  Board();
  std::shared_ptr<const Snapshot> now() const;
  /// @return false when it says the same as the one before, which then stays
  bool publish(Snapshot snapshot);
  /// Waits until another snapshot than `seen` is there, or the time is over.
  void wait(const std::shared_ptr<const Snapshot>& seen, std::chrono::milliseconds limit) const;
  /// Makes fd() readable, as publish() does when it publishes.
  void wake() const;
  /// For poll(2): something happened since take().
  int fd() const { return events_.get(); }
  void take() const;

  /// Whom kubelet has given devices, from now on. Before the first of them a preference waits for it, if it is
  /// expected.
  void set_allocations(std::shared_ptr<const std::vector<Allocation>> allocations);
  void expect_allocations();

  /// While the service stands still nothing is handed out.
  std::atomic<bool> quiet{false};

  // What the servers ask.
  Result<Grant> allocate(const std::string& resource, const std::vector<std::string>& ids) const;
  std::vector<std::string> prefer(const std::string& resource, const PreferredRequest& request) const;

 private:
  mutable std::mutex mutex_;
  mutable std::condition_variable changed_;
  std::shared_ptr<const Snapshot> now_ = std::make_shared<Snapshot>();
  std::shared_ptr<const std::vector<Allocation>> allocations_;
  bool expects_allocations_ = false;
  Fd events_;
};

/// What kubelet gets to see of a resource.
DeviceList list_of(const Snapshot& snapshot, const Resource& resource);

}  // namespace slipway::deviceplugin
