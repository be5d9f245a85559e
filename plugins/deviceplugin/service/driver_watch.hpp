// SPDX-License-Identifier: Apache-2.0
// plugins/deviceplugin/service/driver_watch.hpp - the GPUs and their state: from NVML's events, and from a check at
// long intervals.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "deviceplugin/devices/health.hpp"
#include "deviceplugin/devices/inventory.hpp"
#include "deviceplugin/devices/xid_log.hpp"
#include "deviceplugin/service/clients.hpp"
#include "nvidia/nvml/event_watch.hpp"
#include "nvidia/nvml/nvml.hpp"

namespace slipway::deviceplugin {

/// Used by one thread. Between two passes other threads wait for the driver's events: descriptors() become readable on
/// events, and next() says when a pass is due without one. That is once in ten seconds if all is well; every two
/// seconds while a GPU is unhealthy, and more often while one does not answer, because no event reports that it is
/// back.
class DriverWatch {
 public:
  using Log = std::function<void(const char* level, const std::string& text)>;

  DriverWatch(const Host& host, nvidia::nvml::NvmlOptions options, HealthRules rules, Log log);

  /// Handles the events, reads the GPUs when that is due, and updates the health book. Waits for NVML's answers only.
  void pass(const XidFilter& filter);
  /// Returns descriptors that become readable when a pass has something to do; valid until the next pass.
  std::vector<int> descriptors() const;
  /// Returns when a pass is due without an event.
  Moment next() const;
  /// Something happened that NVML has no event for: the next pass reads the GPUs, and opens NVML if it is closed.
  void look_soon();
  /// Sets a GPU's compute mode: exclusive process (true), or default. Errors: NVML's.
  Status set_exclusive(const std::string& gpu, bool exclusive);
  /// Closes NVML; the next pass opens it again at once. The known state stays.
  void release();

  /// Returns the GPUs in index order, including those that were seen once and do not answer now.
  const std::vector<Gpu>& gpus() const { return gpus_; }
  /// Returns the GPUs that are on the PCI bus and otherwise unknown.
  const std::vector<AbsentGpu>& absent() const { return absent_; }
  /// Empty until the pass after the first check: kubelet gets the GPUs before NVML is asked some hundred questions.
  const Nearness& nearness() const { return nearness_; }
  const std::string& driver_version() const { return driver_version_; }
  /// Says why NVML does not answer; empty: it answers.
  const std::string& problem() const { return problem_; }
  /// True after the first look at the GPUs.
  bool looked() const { return looked_; }
  /// Returns the content that CDI specs depend on, as of the last check: the driver's version, the GPUs that answered,
  /// healthy or not, and their MIG devices; empty: NVML does not answer.
  std::string presence() const;
  /// Returns the GPUs whose MIG mode or devices have changed since NVML was opened. slipway changes them only while
  /// NVML is closed, so another program did.
  std::vector<Gpu> repartitioned() const;
  /// Returns the processes with GPU memory, at most ten seconds old.
  const Clients& clients() const { return clients_; }
  HealthBook& book() { return book_; }
  const HealthBook& book() const { return book_; }
  /// Sets the GPUs that an earlier process saw, to have names for those that never answer.
  void remember(std::vector<Gpu> gpus) { gpus_ = std::move(gpus); }

 private:
  bool open(Moment now);
  void take_events(const XidFilter& filter);
  void take_driver_events();
  void look_after_event();
  void ask_silent_gpus(Moment now);
  void look(Moment now);
  void take(const Inventory& inventory, Moment now);
  void measure();
  void read_deferred();
  void watch_events(const Inventory& inventory, Moment now);
  void event(const nvmlEventData_t& data, const XidFilter& filter);
  void log_xids(const std::vector<XidLog::Line>& lines) const;
  void find_driver(const std::string& why, Moment now);
  void report_gone(const std::string& why, Moment now);
  void gone(const std::string& why, Moment now);

  const Host& host_;
  nvidia::nvml::NvmlOptions options_;
  Log log_;
  HealthBook book_;
  XidLog xid_log_;
  std::unique_ptr<nvidia::nvml::Nvml> nvml_;
  std::shared_ptr<nvidia::nvml::EventWatch> events_;
  std::shared_ptr<nvidia::nvml::EventWatch> former_events_;  ///< the event watch that events_ replaced
  std::shared_ptr<nvidia::nvml::EventWatch> driver_events_;
  std::map<std::string, nvmlDevice_t> watched_;  ///< by UUID, the GPUs with event delivery
  Moment events_since_;                          ///< when events_ was created; it is not recreated within kEventsAgain
  nvidia::GpuBus bus_;
  std::vector<Gpu> gpus_;
  std::vector<AbsentGpu> absent_;
  std::map<std::string, std::vector<std::string>> partitions_;  ///< MIG devices by UUID, as of the first check since
                                                                ///< NVML was opened
  std::vector<std::string> measured_;                           ///< UUIDs of the GPUs in nearness_
  Nearness nearness_;
  Clients clients_;
  std::set<unsigned> hanging_;          ///< indexes of GPUs with a hanging call
  std::set<std::string> silent_;        ///< UUIDs of the GPUs that did not answer in the last check
  std::vector<unsigned> silent_again_;  ///< indexes of GPUs that are asked again before the next check
  std::string driver_version_;
  std::string problem_ = "NVML has not been asked yet";
  bool looked_ = false;
  bool mig_may_differ_ = true;      ///< the known MIG devices may be outdated
  bool deferred_read_due_ = false;  ///< the first check is done, but read_deferred() is not
  Moment looked_at_;
  Moment next_look_;
  Moment next_silent_ = Moment::max();
  Moment next_clients_;
  Moment next_open_;
};

}  // namespace slipway::deviceplugin
