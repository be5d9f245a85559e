// SPDX-License-Identifier: Apache-2.0
// plugins/deviceplugin/service/driver_watch.hpp - what GPUs there are and how they are: by NVML's events, and by a look
// now and then.
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

/// Used by one thread. Between two passes the driver's events are awaited elsewhere: descriptors() tells of them, and
/// next() when a pass is due without one. At rest that is once in ten seconds; every two seconds while a GPU is
/// unhealthy, and more often while one does not answer, since no event tells that it is back.
class DriverWatch {
 public:
  using Log = std::function<void(const char* level, const std::string& text)>;

  DriverWatch(const Host& host, nvidia::nvml::NvmlOptions options, HealthRules rules, Log log);

  /// Takes the events, looks at the GPUs when that is due, and keeps the book. Waits for nothing but NVML's answers.
  void pass(const XidFilter& filter);
  /// Can be read when a pass has something to do; they hold until the next pass.
  std::vector<int> descriptors() const;
  /// When a pass is due, whatever happens.
  Moment next() const;
  /// Something has happened that NVML has no event for: the next pass looks, and opens NVML if it is closed.
  void look_soon();
  /// Sets a GPU's compute mode: exclusive process, or default. Errors: NVML's.
  Status set_exclusive(const std::string& gpu, bool exclusive);
  /// Closes NVML; the next pass opens it again, at once. What is known stays.
  void release();

  /// In index order; a GPU that was seen once and does not answer now is still there.
  const std::vector<Gpu>& gpus() const { return gpus_; }
  /// GPUs of which nothing is known, but that they are on the PCI bus.
  const std::vector<AbsentGpu>& absent() const { return absent_; }
  /// Empty until the pass after the first look: kubelet is told of the GPUs before some hundred questions are asked.
  const Nearness& nearness() const { return nearness_; }
  const std::string& driver_version() const { return driver_version_; }
  /// Why NVML does not answer; empty: it does.
  const std::string& problem() const { return problem_; }
  /// At least one look at the GPUs was had.
  bool looked() const { return looked_; }
  /// What CDI specs have of the machine, as of the last look: the driver's version, the GPUs that answered, and their
  /// MIG devices, whatever their health; empty: NVML does not answer.
  std::string presence() const;
  /// GPUs whose MIG mode or devices are other than when NVML was opened: slipway changes them only while it is closed,
  /// so another program did.
  std::vector<Gpu> repartitioned() const;
  /// Processes with memory of a GPU, as of some look in the last ten seconds.
  const Clients& clients() const { return clients_; }
  HealthBook& book() { return book_; }
  const HealthBook& book() const { return book_; }
  /// GPUs that an earlier process saw: names for those that do not answer from the beginning.
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
  void look_at_the_rest();
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
  std::shared_ptr<nvidia::nvml::EventWatch> former_events_;  ///< what events_ has taken the place of
  std::shared_ptr<nvidia::nvml::EventWatch> driver_events_;
  std::map<std::string, nvmlDevice_t> watched_;  ///< by UUID, the GPUs whose events come
  Moment events_since_;                          ///< when events_ was made, and until when no other one is
  nvidia::GpuBus bus_;
  std::vector<Gpu> gpus_;
  std::vector<AbsentGpu> absent_;
  std::map<std::string, std::vector<std::string>> partitions_;  ///< by UUID, as of the first look since NVML was opened
  std::vector<std::string> measured_;                           ///< UUIDs that nearness_ was read for
  Nearness nearness_;
  Clients clients_;
  std::set<unsigned> hanging_;          ///< indexes that a call hangs on
  std::set<std::string> silent_;        ///< UUIDs of the GPUs that did not answer the last look
  std::vector<unsigned> silent_again_;  ///< indexes of those that are asked again before the next look
  std::string driver_version_;
  std::string problem_ = "NVML has not been asked yet";
  bool looked_ = false;
  bool mig_may_differ_ = true;  ///< what is known of MIG devices is not to be relied on
  bool owes_the_rest_ = false;  ///< the first look was had, and look_at_the_rest() was not
  Moment looked_at_;
  Moment next_look_;
  Moment next_silent_ = Moment::max();
  Moment next_clients_;
  Moment next_open_;
};

}  // namespace slipway::deviceplugin
