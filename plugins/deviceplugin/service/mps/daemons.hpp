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
  ~MpsDaemons();  ///< ends daemons that surely have no clients; others go on, to be taken over
  MpsDaemons(const MpsDaemons&) = delete;
  MpsDaemons& operator=(const MpsDaemons&) = delete;

  /// Starts, keeps and ends daemons, also those that an earlier process of this service left. @return by resource, why
  /// it cannot be allocated yet
  std::map<std::string, std::string> tick(const std::map<std::string, MpsSettings>& wanted,
                                          const std::string& driver_root, const std::string& mps_root);
  /// True when tick() has nothing to check.
  bool at_rest() const;
  /// Called before the driver is released: ends daemons without clients.
  void release();
  /// Leaves all daemons to the next run of the service: the destructor then ends none.
  void leave() { is_left_ = true; }

 private:
  void take_over_unwanted(const std::map<std::string, MpsSettings>& wanted, const std::string& driver_root,
                          const std::string& mps_root, const MpsBudget& budget);
  bool take_over_other(const MpsProgram& program, const std::string& name);
  std::vector<std::string> names_in_order(const std::map<std::string, MpsSettings>& wanted);
  void make_exclusive(const MpsSettings& settings);
  void record_gpus(const std::string& name, const MpsSettings& settings, const std::string& mps_root);
  bool in_use(const std::string& gpu) const;

  const Host& host_;
  MpsDaemon::Log log_;
  SetExclusive set_exclusive_;
  AsideFolders aside_;
  std::map<std::string, std::unique_ptr<MpsDaemon>> daemons_;
  std::map<std::string, std::unique_ptr<MpsDaemon>> leaving_;  ///< no longer needed, but with clients
  MpsDaemon::Clock::time_point next_leave_;
  bool looked_for_others_ = false;
  bool is_left_ = false;
  std::map<std::string, std::unique_ptr<MpsDaemon>> others_;  ///< daemons that it looks for; null: the search for that
                                                              ///< one is done
  std::string first_;                                         ///< name that the next turn starts with
  std::map<std::string, std::vector<std::string>> recorded_;  ///< GPUs of each resource's daemon, for the next process
  std::set<std::pair<std::string, std::string>> gpus_;        ///< resource and UUID
  std::set<std::string> exclusive_;                           ///< UUIDs
  std::set<std::string> complained_;
};

}  // namespace slipway::deviceplugin
