// SPDX-License-Identifier: Apache-2.0
// plugins/deviceplugin/service/driver_watch.hpp - asks NVML what GPUs there are and how they are, again and again.
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
#include "deviceplugin/service/clients.hpp"
#include "nvidia/nvml/event.hpp"
#include "nvidia/nvml/nvml.hpp"

namespace slipway::deviceplugin {

/// Used by one thread.
class DriverWatch {
 public:
  using Log = std::function<void(const char* level, const std::string& text)>;

  DriverWatch(const Host& host, nvidia::nvml::NvmlOptions options, HealthRules rules, Log log);

  /// Waits for events up to `limit`, looks at the GPUs when that is due, and keeps the book.
  void pass(std::chrono::milliseconds limit, const XidFilter& filter);
  /// Sets a GPU's compute mode: exclusive process, or default. Errors: NVML's.
  Status set_exclusive(const std::string& gpu, bool exclusive);
  /// Closes NVML; the next pass opens it again, at once. What is known stays.
  void release();

  /// In index order; a GPU that was seen once and does not answer now is still there.
  const std::vector<Gpu>& gpus() const { return gpus_; }
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
  /// Processes with memory of a GPU, as of the last look.
  const Clients& clients() const { return clients_; }
  HealthBook& book() { return book_; }
  const HealthBook& book() const { return book_; }
  /// GPUs that an earlier process saw: names for those that do not answer from the beginning.
  void remember(std::vector<Gpu> gpus) { gpus_ = std::move(gpus); }

 private:
  bool open(Moment now);
  void glance(Moment now);
  void look(Moment now);
  void take(const Inventory& inventory, Moment now);
  void measure();
  void look_at_the_rest();
  void watch_events();
  void wait_for_events(std::chrono::milliseconds limit, const XidFilter& filter);
  void event(const nvmlEventData_t& data, const XidFilter& filter);
  std::optional<unsigned> recovery_action(const Gpu& gpu);
  void gone(const std::string& why, Moment now);

  const Host& host_;
  nvidia::nvml::NvmlOptions options_;
  Log log_;
  HealthBook book_;
  std::unique_ptr<nvidia::nvml::Nvml> nvml_;
  std::shared_ptr<nvidia::nvml::EventSet> events_;
  std::map<nvmlDevice_t, std::string> watched_;  ///< UUIDs of the GPUs whose events come
  std::vector<Gpu> gpus_;
  std::vector<std::string> measured_;  ///< UUIDs that nearness_ was read for
  Nearness nearness_;
  Clients clients_;
  std::set<unsigned> hanging_;    ///< indexes that a call hangs on
  std::set<std::string> silent_;  ///< UUIDs of the GPUs that did not answer the last look
  std::string glanced_;           ///< what the last glance saw; empty: there was none since NVML was opened
  std::string driver_version_;
  std::string problem_ = "NVML has not been asked yet";
  bool looked_ = false;
  bool owes_the_rest_ = false;  ///< the first look was had, and look_at_the_rest() was not
  Moment next_look_;
  Moment next_glance_;
  Moment next_open_;
};

}  // namespace slipway::deviceplugin
