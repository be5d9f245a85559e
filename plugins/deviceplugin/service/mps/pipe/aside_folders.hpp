// SPDX-License-Identifier: Apache-2.0
// plugins/deviceplugin/service/mps/pipe/aside_folders.hpp - empties the folders that were moved aside with files of
// pods in them, and removes them.
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include <slipway/host.hpp>

namespace slipway::deviceplugin {

/// Returns "nvidia.com/gpu" for each resource folder below mpsRoot.
std::vector<std::string> resources_below(const Host& host, const std::string& mps_root);

/// Returns the path of deviceplugin-empty, beside the service's program.
std::string emptying_program();

/// Used by one thread, which touches nothing that pods can lock: one process per folder empties it. With systemd that
/// process is a unit with few more privileges than the service; else it has the service's own.
class AsideFolders {
 public:
  using Clock = std::chrono::steady_clock;
  using Log = std::function<void(const char* level, const std::string& text)>;
  AsideFolders(const Host& host, Log log, std::string program = emptying_program())
      : host_(host), log_(std::move(log)), program_(std::move(program)) {}
  ~AsideFolders();
  AsideFolders(const AsideFolders&) = delete;
  AsideFolders& operator=(const AsideFolders&) = delete;

  /// Called every five seconds: removes empty folders, and has the others emptied.
  void tick(const std::string& mps_root, Clock::time_point now = Clock::now());
  /// True when the last check found no folder.
  bool at_rest() const { return folders_.empty(); }

 private:
  struct Folder {
    Clock::time_point since;
    Clock::time_point next_try;
    pid_t child = 0;    ///< the process that empties it; 0: none, or systemd's
    bool told = false;  ///< the log has named it
  };
  std::vector<std::string> found(const std::string& mps_root) const;
  void forget_gone(const std::vector<std::string>& present);
  bool removed(const std::string& path, const Folder& folder);
  /// @return false: starting others now would fail too
  bool start_emptying(const std::string& path, Folder& folder, Clock::time_point now);
  Status start(const std::string& path, Folder& folder);
  void report_lasting(Clock::time_point now);

  const Host& host_;
  Log log_;
  std::string program_;
  Clock::time_point next_look_;
  std::map<std::string, Folder> folders_;  ///< by path
  std::string problem_;
};

}  // namespace slipway::deviceplugin
