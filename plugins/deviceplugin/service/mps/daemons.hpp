// SPDX-License-Identifier: Apache-2.0
// plugins/deviceplugin/service/mps/daemons.hpp - the MPS control daemons of all resources, and the compute mode of
// their GPUs.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>

#include "deviceplugin/devices/resources.hpp"
#include "deviceplugin/service/mps/daemon.hpp"
#include "deviceplugin/service/mps/pipe/aside_folders.hpp"

namespace slipway::deviceplugin {

class MpsDaemons {
 public:
  /// Sets a GPU's compute mode: exclusive process, or default. Errors: NVML's
  using SetExclusive = std::function<Status(const std::string& gpu, bool exclusive)>;

  MpsDaemons(const Host& host, MpsDaemon::Log log, SetExclusive set_exclusive);
  ~MpsDaemons();  ///< ends those that surely have no clients; others go on, to be taken over
  MpsDaemons(const MpsDaemons&) = delete;
  MpsDaemons& operator=(const MpsDaemons&) = delete;

  /// Starts, keeps and ends daemons, also those that an earlier process of this service left. @return why a resource
  /// cannot be handed out yet, by resource
  std::map<std::string, std::string> tick(const std::map<std::string, MpsSettings>& wanted,
                                          const std::string& driver_root, const std::string& mps_root);
  /// There is nothing that tick() would have to look at again.
  bool at_rest() const;
  /// Before the driver is released: ends those that have no clients.
  void release();
  /// The next run of the service takes all of them over: the end of this object ends none.
  void leave() { is_left_ = true; }

 private:
  void take_over_unwanted(const std::map<std::string, MpsSettings>& wanted, const std::string& driver_root,
                          const std::string& mps_root, const MpsBudget& budget);
  bool take_over_other(const MpsProgram& program, const std::string& name);
  std::vector<std::string> in_turn(const std::map<std::string, MpsSettings>& wanted);
  void make_exclusive(const MpsSettings& settings);
  void record_gpus(const std::string& name, const MpsSettings& settings, const std::string& mps_root);
  bool in_use(const std::string& gpu) const;

  const Host& host_;
  MpsDaemon::Log log_;
  SetExclusive set_exclusive_;
  AsideFolders aside_;
  std::map<std::string, std::unique_ptr<MpsDaemon>> daemons_;
  std::map<std::string, std::unique_ptr<MpsDaemon>> leaving_;  ///< not wanted any more, with clients
  MpsDaemon::Clock::time_point next_leave_;
  bool looked_for_others_ = false;
  bool is_left_ = false;
  std::map<std::string, std::unique_ptr<MpsDaemon>> others_;  ///< that it looks for; none: it is done with that one
  std::string first_;                                         ///< of the next turn
  std::map<std::string, std::vector<std::string>> recorded_;  ///< GPUs of a resource's daemon, for the next process
  std::set<std::pair<std::string, std::string>> gpus_;        ///< resource and UUID
  std::set<std::string> exclusive_;                           ///< UUIDs
  std::set<std::string> complained_;
};

}  // namespace slipway::deviceplugin
