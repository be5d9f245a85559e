// SPDX-License-Identifier: Apache-2.0
// plugins/deviceplugin/service/state_file.hpp - the service's state files: status.json and metrics.prom below
// /run/slipway/deviceplugin.
#pragma once

#include <map>
#include <set>
#include <string>

#include <slipway/json.hpp>
#include <slipway/result.hpp>
#include <slipway/root_dir.hpp>

#include "deviceplugin/service/board.hpp"
#include "deviceplugin/service/clients.hpp"
#include "deviceplugin/service/kubelet_view.hpp"
#include "deviceplugin/service/registrar.hpp"

namespace slipway::deviceplugin {

inline constexpr const char* kStatusFolder = "/run/slipway/deviceplugin";

/// Everything that the status shows.
struct ShownState {
  const Snapshot& snapshot;
  std::map<std::string, EndpointStatus> endpoints;
  Clients clients;
  KubeletView::View kubelet;
  bool quiesced = false;               ///< the service has released the driver: the data is from before
  std::set<std::string> offered = {};  ///< resources offered since the boot
};

/// Returns the number of healthy devices by resource, as sent to kubelet.
std::map<std::string, long> offered_of(const Snapshot& snapshot);

/// {"apiVersion", "driverVersion", "gpus": […], "resources": […], "holders", "conflicts", "notes", "problem"}, and
/// "yields", "quiet", "settling" and "formerResources" if they apply
Json status_json(const ShownState& known);
/// Returns the same in Prometheus' text format, for a textfile collector.
std::string metrics_text(const ShownState& known);

/// The state that an earlier process of this boot left: GPUs, and its offer. Empty if there is none, or it cannot be
/// read.
struct Remembered {
  std::vector<Gpu> gpus;
  std::set<std::string> offered;
};
Remembered read_remembered(const RootDir& root);

/// Replaces both files in the root's kStatusFolder atomically when they change. Errors: those of the file system.
class StateFile {
 public:
  explicit StateFile(RootDir root) : root_(std::move(root)) {}
  Status write(const Json& status, const std::string& metrics);

 private:
  RootDir root_;
  std::string status_;
  std::string metrics_;
};

}  // namespace slipway::deviceplugin
