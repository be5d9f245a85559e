// SPDX-License-Identifier: Apache-2.0
// plugins/deviceplugin/service/board.hpp - the current state and offer; written by one thread, read by all.
#pragma once

#include <atomic>
#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include <slipway/fd.hpp>

#include "deviceplugin/allocation/allocate.hpp"
#include "deviceplugin/allocation/preferred_devices.hpp"
#include "deviceplugin/allocation/uncounted_devices.hpp"
#include "deviceplugin/devices/health.hpp"
#include "deviceplugin/service/grpc/plugin_server.hpp"

namespace slipway::deviceplugin {

/// The state at one moment; immutable once it is published.
struct Snapshot {
  Settings settings;
  MachineDevices extras;
  std::string driver_version;
  std::vector<Gpu> gpus;
  std::vector<AbsentGpu> absent;   ///< on the PCI bus, but not shown by the driver
  std::vector<Gpu> repartitioned;  ///< changed by another program than slipway since the service opened NVML
  Nearness nearness;
  Resources resources;
  std::map<std::string, Health> health;        ///< of unhealthy GPUs, by UUID or instance_key()
  std::map<std::string, std::string> unready;  ///< why a resource is not allocated, by resource: MPS is not running
  std::vector<std::string> notes;
  std::string problem;  ///< why no or not all devices are offered
  std::string yields;   ///< the other device plugin that the GPUs are left to; then nothing is offered
  bool operator==(const Snapshot&) const = default;

  /// True when the nearness of the GPUs is known, or cannot be read.
  bool is_measured() const { return !problem.empty() || nearness.size() == gpus.size(); }
  Health health_of(const Device& device) const;
};

class Board {
 public:
  Board();
  std::shared_ptr<const Snapshot> now() const;
  /// @return false when it equals the previous one, which then stays
  bool publish(Snapshot snapshot);
  /// Waits for a snapshot other than `seen`, or until the time is over.
  void wait(const std::shared_ptr<const Snapshot>& seen, std::chrono::milliseconds limit) const;
  /// Makes fd() readable, as publish() does.
  void wake() const;
  /// A descriptor for poll(2): readable when something happened since take().
  int fd() const { return events_.get(); }
  void take() const;

  /// Sets the current allocations of kubelet. If they are expected, prefer() waits for the first of them.
  void set_allocations(std::shared_ptr<const std::vector<Allocation>> allocations);
  void expect_allocations();

  /// While the service has released the driver nothing is allocated.
  std::atomic<bool> quiesced{false};

  // Calls from the gRPC servers.
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

/// Returns the device list of a resource for kubelet.
DeviceList list_of(const Snapshot& snapshot, const Resource& resource);

}  // namespace slipway::deviceplugin
